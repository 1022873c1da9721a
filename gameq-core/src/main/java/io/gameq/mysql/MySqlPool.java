package io.gameq.mysql;

/** x. */
public final class MySqlPool {
  private MySqlPool() {}

  public static com.zaxxer.hikari.HikariDataSource open(MySqlConfig c, String purpose) {
    com.zaxxer.hikari.HikariConfig h = new com.zaxxer.hikari.HikariConfig();
    h.setJdbcUrl(c.url());
    h.setUsername(c.user());
    h.setPassword(c.password());
    h.setMaximumPoolSize(c.poolSize());
    return new com.zaxxer.hikari.HikariDataSource(h);
  }
}
