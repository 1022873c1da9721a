-- The highest version among the rows that the newest open session took over from Redis: it has all of its owner's commits up to there.
ALTER TABLE gameq_owner
  ADD COLUMN adopted_version BIGINT UNSIGNED NOT NULL DEFAULT 0;
