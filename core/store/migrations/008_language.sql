-- SPDX-License-Identifier: Apache-2.0
-- A candidate has a language, of which the kind of device follows. Until now there was one for each kind.
ALTER TABLE candidate_details RENAME COLUMN target TO language;
UPDATE candidate_details SET language = 'cpp' WHERE language = 'cpu';
