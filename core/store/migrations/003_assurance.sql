-- SPDX-License-Identifier: Apache-2.0
-- What was checked of a candidate beyond its evaluation. A check that is made again replaces what it said before.
CREATE TABLE assurances (
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  kind TEXT NOT NULL,
  verdict TEXT NOT NULL,
  json TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (candidate_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE profiles (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidates (id),
  json_artifact INTEGER NOT NULL REFERENCES artifacts (id),
  at_ms INTEGER NOT NULL
) STRICT;
