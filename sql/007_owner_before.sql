-- While a session opens, the one before it counts as well: an open that fails before it has taken over in Redis dethrones
-- nobody. Of several such opens in a row it is the last session that was open; NULL once the newest is open.
ALTER TABLE gameq_owner
  ADD COLUMN before_epoch BIGINT UNSIGNED NULL,
  ADD COLUMN before_nonce CHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL;
