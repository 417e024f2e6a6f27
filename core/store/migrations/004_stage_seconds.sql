-- SPDX-License-Identifier: Apache-2.0
-- How long the worker had a candidate, so that a run can say where its time went; NULL when it never got there.
-- Compiling is in compile_s.
ALTER TABLE candidate_details ADD COLUMN verify_s REAL;
ALTER TABLE candidate_details ADD COLUMN timing_s REAL;
