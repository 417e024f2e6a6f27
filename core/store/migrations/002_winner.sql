-- SPDX-License-Identifier: Apache-2.0
-- What a finished run's last, longer measurement chose. The fastest time of a search alone is partly luck.
ALTER TABLE runs ADD COLUMN winner INTEGER REFERENCES candidates (id);
