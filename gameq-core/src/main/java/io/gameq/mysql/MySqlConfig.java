package io.gameq.mysql;

/** x. */
public record MySqlConfig(String url, String user, String password, int poolSize) {}
