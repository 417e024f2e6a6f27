-- SPDX-License-Identifier: Apache-2.0
-- What a person says about candidates. Nothing that was measured changes with it, and it may be written beside a run.
CREATE TABLE pins (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidates (id),
  at_ms INTEGER NOT NULL
) STRICT;

-- Candidates here are left out of lists; they stay in the record.
CREATE TABLE trash (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidates (id),
  at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE notes (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidates (id),
  note TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE tags (
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  tag TEXT NOT NULL COLLATE NOCASE,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (candidate_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_name ON tags (tag);

-- candidates.parents the other way round: who was made from whom.
CREATE TABLE lineage (
  parent INTEGER NOT NULL,
  child INTEGER NOT NULL,
  PRIMARY KEY (parent, child)
) STRICT, WITHOUT ROWID;

WITH RECURSIVE split (child, parent, rest) AS (
  SELECT id, '', parents || ',' FROM candidates WHERE parents <> ''
  UNION ALL
  SELECT child, substr(rest, 1, instr(rest, ',') - 1), substr(rest, instr(rest, ',') + 1) FROM split WHERE rest <> ''
)
INSERT OR IGNORE INTO lineage (parent, child) SELECT CAST(parent AS INTEGER), child FROM split WHERE parent <> '';

-- The order of the column that came with this version.
CREATE INDEX candidates_by_elapsed ON candidates (run_id, elapsed_s);
