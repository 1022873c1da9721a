-- What each of the last sessions took over from Redis, newest first: 'epoch:version epoch:version ...'. Epoch of the last open session
-- before it, whose rows it took; the highest version among them, 0 for none: it has all commits of that session up to there.
ALTER TABLE gameq_owner
  ADD COLUMN adoptions VARCHAR(350) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '';
