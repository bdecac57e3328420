-- Marks the file as ours ('aszm'), so that another program's database is never written into.
PRAGMA application_id = 0x61737A6D;

CREATE TABLE experience (
    id INTEGER PRIMARY KEY,
    -- Of the content: one experience, however often it is added.
    digest TEXT NOT NULL UNIQUE CHECK (length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
    time_ms INTEGER NOT NULL,
    trust TEXT NOT NULL CHECK (trust IN ('person', 'tool', 'model')),
    dimension TEXT NOT NULL CHECK (dimension <> ''),
    -- How the name is compared; the name itself stays as it was given.
    dimension_key TEXT NOT NULL CHECK (dimension_key <> ''),
    severity TEXT NOT NULL CHECK (severity IN ('high', 'medium', 'low')),
    location TEXT,
    description TEXT NOT NULL CHECK (description <> ''),
    suggestion TEXT,
    fix TEXT NOT NULL CHECK (fix <> ''),
    before_text TEXT,
    after_text TEXT,
    evidence TEXT NOT NULL CHECK (json_valid(evidence) AND json_type(evidence) = 'object'),
    task TEXT NOT NULL CHECK (task <> ''),
    task_family TEXT,
    task_family_key TEXT,
    loop_id TEXT,
    round INTEGER CHECK (round BETWEEN 0 AND 4294967295),
    model TEXT,
    CHECK ((task_family IS NULL) = (task_family_key IS NULL))
) STRICT;

CREATE INDEX experience_by_time ON experience (time_ms, id);
CREATE INDEX experience_by_dimension ON experience (dimension_key, time_ms);
CREATE INDEX experience_by_task_family ON experience (task_family_key, time_ms) WHERE task_family_key IS NOT NULL;

CREATE TABLE experience_tag (
    experience_id INTEGER NOT NULL REFERENCES experience (id) ON DELETE CASCADE,
    tag TEXT NOT NULL CHECK (tag <> ''),
    tag_key TEXT NOT NULL CHECK (tag_key <> ''),
    PRIMARY KEY (experience_id, tag)
) STRICT, WITHOUT ROWID;

CREATE INDEX experience_tag_by_key ON experience_tag (tag_key, experience_id);
