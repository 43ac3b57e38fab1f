-- What was chosen for a board of the service on its set-up page, over the configuration.
CREATE TABLE board_setup (
    board  TEXT PRIMARY KEY,  -- the board's id in the configuration
    chosen TEXT NOT NULL      -- JSON
);
