-- Which match each board of the service plays, so that it goes on with it after a restart.
CREATE TABLE played (
    board        TEXT    PRIMARY KEY,  -- the board's id in the configuration
    match_number INTEGER NOT NULL REFERENCES game_match (number)
);
