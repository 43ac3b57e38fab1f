-- The append-only log of matches. Portable SQL except for the triggers at the end (SQLite's dialect).
-- Times are integer microseconds since 1970, UTC. Hashes are SHA-256 in hexadecimal.

-- One row a match. revision and summary follow from the events and are written in the same transaction, so that a list
-- needs no replay; `crokeye db check` compares them with the log.
CREATE TABLE game_match (
    number      INTEGER PRIMARY KEY,      -- short handle for people: 1, 2, 3
    id          TEXT    NOT NULL UNIQUE,  -- UUID v7
    created_us  BIGINT  NOT NULL,
    revision    BIGINT  NOT NULL,         -- number of events
    head        TEXT    NOT NULL,         -- chain value of the latest event
    summary     TEXT    NOT NULL          -- JSON for lists
);

-- One row an event. chain = SHA-256 over the previous chain value and this row, so that a row changed, removed or
-- inserted behind the program's back shows.
CREATE TABLE event (
    match_number INTEGER NOT NULL REFERENCES game_match (number),
    revision     BIGINT  NOT NULL,        -- 1, 2, 3 without gaps
    at_us        BIGINT  NOT NULL,
    author       TEXT    NOT NULL,
    body         TEXT    NOT NULL,        -- the event as JSON
    chain        TEXT    NOT NULL,
    PRIMARY KEY (match_number, revision)
) WITHOUT ROWID;

-- Documents known by content. The bytes lie beside the database in a folder, so that photos do not weigh on it.
CREATE TABLE evidence (
    sha256      TEXT    PRIMARY KEY,
    media_type  TEXT    NOT NULL,
    bytes       BIGINT  NOT NULL,         -- length
    stored_us   BIGINT  NOT NULL
);

-- Nothing is ever edited in place.
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;
CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'an event is never removed'); END;
CREATE TRIGGER event_follows_the_latest BEFORE INSERT ON event
WHEN NEW.revision <> 1 + COALESCE((SELECT MAX(revision) FROM event WHERE match_number = NEW.match_number), 0)
BEGIN SELECT RAISE(ABORT, 'an event must follow the latest'); END;
