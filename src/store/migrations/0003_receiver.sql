-- How far other systems have been told of the log: webhooks, a tournament's laptop. What is still to be told is whatever
-- the log holds beyond it, so that nothing is kept twice and nothing is lost with the program.

-- One row a receiver, from when on it is told.
CREATE TABLE receiver (
    name        TEXT    PRIMARY KEY,
    since_us    BIGINT  NOT NULL
);

-- One row a receiver and match that it was told of.
CREATE TABLE told (
    receiver     TEXT    NOT NULL REFERENCES receiver (name),
    match_number INTEGER NOT NULL REFERENCES game_match (number),
    revision     BIGINT  NOT NULL,        -- the latest event that it has acknowledged
    PRIMARY KEY (receiver, match_number)
);
