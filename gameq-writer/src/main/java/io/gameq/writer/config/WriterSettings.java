package io.gameq.writer.config;

/**
 * How a writer works; immutable.
 *
 * @param name names this writer in Redis and in logs
 * @param workers threads, each with a connection to Redis and one to MySQL
 * @param batchOwners most owners of one flush
 * @param batchRows how many rows a flush aims at; an owner with more is flushed whole
 * @param leaseSeconds how long a claim belongs to a writer that says nothing
 * @param deadLetters most rows set aside in the database
 * @param tombstoneDays how long deleted rows are remembered
 * @param drainSeconds how long a writer that is told to stop may take to finish what it has claimed
 * @param rowsPerSecond most rows that it takes in a second; 0: as many as MySQL takes
 * @param commandSocket whether it answers commands of this host
 */
public record WriterSettings(
    String name,
    int workers,
    int batchOwners,
    int batchRows,
    int leaseSeconds,
    int deadLetters,
    int tombstoneDays,
    int drainSeconds,
    int rowsPerSecond,
    boolean commandSocket) {}
