-- Which database this is. WALs name it, so that those of a clone are not replayed into it; a clone gets another by 'schema new-identity'.
INSERT IGNORE INTO gameq_setting (name, value) VALUES ('database', REPLACE(UUID(), '-', ''));
