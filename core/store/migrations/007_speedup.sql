-- SPDX-License-Identifier: Apache-2.0
-- One speedup. `over_eager` and its ends say how many times as fast a candidate is as the eager PyTorch that was measured
-- in turns with it; `rank`, the lower end, is what a correct and fully measured candidate competes with. PyTorch's own
-- operators do not compete and are in no cell: they are as fast as eager by definition. `eager_speedup` and its ends say
-- the same of eager against the fastest of PyTorch's ways; the product is the speedup that everything shows.
ALTER TABLE candidates RENAME COLUMN rank_ns TO rank;
ALTER TABLE candidates ADD COLUMN over_eager REAL;
ALTER TABLE candidates ADD COLUMN over_eager_low REAL;
ALTER TABLE candidates ADD COLUMN over_eager_high REAL;
ALTER TABLE runs RENAME COLUMN best_ns TO best_rank;
ALTER TABLE runs ADD COLUMN eager_speedup REAL;
ALTER TABLE runs ADD COLUMN eager_speedup_low REAL;
ALTER TABLE runs ADD COLUMN eager_speedup_high REAL;
ALTER TABLE cells RENAME COLUMN best_ns TO best_rank;
ALTER TABLE improvements RENAME COLUMN time_ns TO rank;

-- Numbers that are not finite are texts in JSON.
UPDATE candidates SET (over_eager, over_eager_low, over_eager_high) = (
  SELECT iif(json_type(evaluation_json, '$.timing.speedup') IN ('real', 'integer'),
             json_extract(evaluation_json, '$.timing.speedup'), NULL),
         iif(json_type(evaluation_json, '$.timing.speedup_low') IN ('real', 'integer'),
             json_extract(evaluation_json, '$.timing.speedup_low'), NULL),
         iif(json_type(evaluation_json, '$.timing.speedup_high') IN ('real', 'integer'),
             json_extract(evaluation_json, '$.timing.speedup_high'), NULL)
  FROM candidate_details WHERE candidate_details.id = candidates.id AND json_valid(evaluation_json))
WHERE rank IS NOT NULL AND operator <> 'baseline';
UPDATE candidates SET over_eager = 1.0, over_eager_low = 1.0, over_eager_high = 1.0
WHERE rank IS NOT NULL AND operator = 'baseline';
UPDATE candidates SET cell = NULL WHERE operator = 'baseline';
UPDATE candidates SET rank = iif(operator = 'baseline', NULL, over_eager_low);

-- From the two medians, which is all that a run of an earlier version knows.
UPDATE runs SET eager_speedup = 1.0, eager_speedup_low = 1.0, eager_speedup_high = 1.0 WHERE baseline_mode = 'eager';
UPDATE runs SET (eager_speedup, eager_speedup_low, eager_speedup_high) = (
  SELECT fastest.median_ns / eager.median_ns,
         coalesce(nullif(json_extract(fastest.json, '$.timing.low_ns'), 0.0), fastest.median_ns) /
           coalesce(nullif(json_extract(eager.json, '$.timing.high_ns'), 0.0), eager.median_ns),
         coalesce(nullif(json_extract(fastest.json, '$.timing.high_ns'), 0.0), fastest.median_ns) /
           coalesce(nullif(json_extract(eager.json, '$.timing.low_ns'), 0.0), eager.median_ns)
  FROM baselines AS fastest JOIN baselines AS eager ON eager.run_id = fastest.run_id AND eager.mode = 'eager'
  WHERE fastest.run_id = runs.id AND fastest.mode = runs.baseline_mode AND eager.median_ns > 0.0)
WHERE baseline_mode <> 'eager';

-- What an ended run did not get to is not pending any more.
UPDATE candidates SET status = 'not evaluated'
WHERE status = 'pending' AND run_id IN (SELECT id FROM runs WHERE status NOT IN ('running', 'paused'));

-- The sums over candidates, by rank.
DELETE FROM cells;
INSERT INTO cells (run_id, island, cell, tried, correct)
  SELECT run_id, island, cell, count(*), sum(status = 'correct') FROM candidates
  WHERE cell IS NOT NULL AND status NOT IN ('pending', 'not evaluated') GROUP BY run_id, island, cell;
UPDATE cells SET (best_candidate, best_rank) = (
  SELECT id, rank FROM candidates WHERE candidates.run_id = cells.run_id AND candidates.cell = cells.cell
    AND candidates.island = cells.island AND rank IS NOT NULL ORDER BY rank DESC, id LIMIT 1);
DELETE FROM improvements;
INSERT INTO improvements (run_id, candidate, elapsed_s, rank)
  SELECT run_id, id, elapsed_s, rank FROM (SELECT *, max(rank) OVER
    (PARTITION BY run_id ORDER BY elapsed_s, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS best_before
    FROM candidates WHERE rank IS NOT NULL)
  WHERE best_before IS NULL OR rank > best_before;
UPDATE runs SET (best_candidate, best_rank) = (
  SELECT id, rank FROM candidates WHERE run_id = runs.id AND rank IS NOT NULL ORDER BY rank DESC, id LIMIT 1);

-- Everything that a filter asks of a row, in the order in which the table is mostly shown, and by time.
DROP INDEX candidates_by_time;
CREATE INDEX candidates_by_time ON candidates (run_id, time_ns, id, status, operator, cell, island, registers,
  relative_error, elapsed_s, over_eager);
CREATE INDEX candidates_by_speedup ON candidates (run_id, over_eager_low, id, status, operator, cell, island, registers,
  relative_error, elapsed_s, over_eager, time_ns);
