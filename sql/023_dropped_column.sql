-- Columns that are dropped on purpose: rows with a value for one of them are written without it. Of others such rows wait.
CREATE TABLE IF NOT EXISTS gameq_dropped_column (
  table_name   VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  column_name  VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL,
  announced_at DATETIME(3) NOT NULL,
  PRIMARY KEY (table_name, column_name)
) ENGINE=InnoDB;
