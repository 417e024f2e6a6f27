-- SPDX-License-Identifier: Apache-2.0
-- Whether a candidate computes something else than its task's graph that is equal by algebra. Until now there was none.
ALTER TABLE candidates ADD COLUMN algebraic INTEGER NOT NULL DEFAULT 0;
