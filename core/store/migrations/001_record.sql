-- SPDX-License-Identifier: Apache-2.0
-- The record of a project. Append-mostly: rows are added, and a candidate's row is completed as its evaluation proceeds.

-- Sources, plans, assembly, logs and binaries, once each, by the SHA-256 of their content.
-- `bytes` is a zstd frame, or NULL when it lies in artifacts/<first two digits>/<hash>.zst beside the database.
CREATE TABLE artifacts (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  bytes BLOB
) STRICT;

CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  json_artifact INTEGER NOT NULL REFERENCES artifacts (id)
) STRICT;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id),
  bundle_path TEXT NOT NULL,
  device_json TEXT NOT NULL,
  status TEXT NOT NULL,
  seed INTEGER NOT NULL,
  time_budget_s REAL NOT NULL,
  max_evaluations INTEGER NOT NULL,
  options_json TEXT NOT NULL,
  swage_version TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  elapsed_s REAL NOT NULL DEFAULT 0,
  evaluations INTEGER NOT NULL DEFAULT 0,
  correct INTEGER NOT NULL DEFAULT 0,
  best_candidate INTEGER REFERENCES candidates (id),
  best_ns REAL,
  baseline_ns REAL,
  baseline_mode TEXT
) STRICT;

CREATE TABLE baselines (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  mode TEXT NOT NULL,
  median_ns REAL,
  json TEXT NOT NULL,
  UNIQUE (run_id, mode)
) STRICT;

-- What the table of candidates shows; what only one opened candidate needs is in candidate_details.
-- `parents` are ids with commas between them. `rank_ns` is the time of a correct and fully measured candidate: what it
-- competes with.
CREATE TABLE candidates (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  proposal INTEGER NOT NULL,
  island INTEGER NOT NULL,
  operator TEXT NOT NULL,
  parents TEXT NOT NULL,
  cell INTEGER CHECK (cell BETWEEN 0 AND 35),
  status TEXT NOT NULL DEFAULT 'pending',
  summary TEXT NOT NULL DEFAULT '',
  time_ns REAL,
  low_ns REAL,
  high_ns REAL,
  rank_ns REAL,
  relative_error REAL,
  registers INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL,
  elapsed_s REAL NOT NULL DEFAULT 0
) STRICT;

-- One for each order of the table and each filter.
CREATE INDEX candidates_by_run ON candidates (run_id);
CREATE INDEX candidates_by_proposal ON candidates (run_id, proposal);
CREATE INDEX candidates_by_time ON candidates (run_id, time_ns);
CREATE INDEX candidates_by_cell ON candidates (run_id, cell);
CREATE INDEX candidates_by_cell_and_time ON candidates (run_id, cell, time_ns);
CREATE INDEX candidates_by_status ON candidates (run_id, status);
CREATE INDEX candidates_by_operator ON candidates (run_id, operator);
CREATE INDEX candidates_by_island ON candidates (run_id, island);
CREATE INDEX candidates_by_error ON candidates (run_id, relative_error);
CREATE INDEX candidates_by_registers ON candidates (run_id, registers);

CREATE TABLE candidate_details (
  id INTEGER PRIMARY KEY REFERENCES candidates (id),
  genome_json TEXT NOT NULL,
  target TEXT NOT NULL,
  flags_json TEXT NOT NULL,
  source_artifact INTEGER NOT NULL REFERENCES artifacts (id),
  plan_artifact INTEGER NOT NULL REFERENCES artifacts (id),
  source_hash TEXT NOT NULL,
  binary_hash TEXT NOT NULL DEFAULT '',
  assembly_artifact INTEGER REFERENCES artifacts (id),
  log_artifact INTEGER REFERENCES artifacts (id),
  compile_s REAL NOT NULL DEFAULT 0,
  kernels_json TEXT NOT NULL DEFAULT '[]',
  evaluation_json TEXT
) STRICT;

-- A binary's hash leaves out paths and build ids, so its bytes are found through it, not by their own hash.
CREATE TABLE binaries (
  hash TEXT PRIMARY KEY,
  artifact INTEGER NOT NULL REFERENCES artifacts (id)
) STRICT, WITHOUT ROWID;

-- Sums over candidates, kept with every evaluation, so that the heat map and the chart cost nothing to read.
CREATE TABLE cells (
  run_id INTEGER NOT NULL REFERENCES runs (id),
  island INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  tried INTEGER NOT NULL,
  correct INTEGER NOT NULL,
  best_candidate INTEGER REFERENCES candidates (id),
  best_ns REAL,
  PRIMARY KEY (run_id, island, cell)
) STRICT, WITHOUT ROWID;

CREATE TABLE improvements (
  run_id INTEGER NOT NULL REFERENCES runs (id),
  candidate INTEGER NOT NULL REFERENCES candidates (id),
  elapsed_s REAL NOT NULL,
  time_ns REAL NOT NULL,
  PRIMARY KEY (run_id, candidate)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  json TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_run ON events (run_id);
