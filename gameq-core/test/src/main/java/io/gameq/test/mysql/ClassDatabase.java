package io.gameq.test.mysql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A database that one test class has for itself. One thread at a time. */
public final class ClassDatabase implements AutoCloseable {
  /** What {@code schema migrate}, nodes and writers say of the database, not of its rows. */
  private static final Set<String> KEPT =
      Set.of(
          "gameq_setting",
          "gameq_table",
          "gameq_layout",
          "gameq_redis_term",
          "gameq_dropped_column",
          "gameq_node");

  private final String name;
  private final Connection connection;

  /**
   * Creates it.
   *
   * @param url of the server, without a database
   * @throws IllegalStateException with what MySQL says
   */
  public ClassDatabase(String url, String user, String password, String name) {
    this.name = name;
    try {
      connection = DriverManager.getConnection(url, user, password);
    } catch (SQLException e) {
      throw failed("cannot connect to the MySQL of the tests as user '" + user + "'", e);
    }
    execute(List.of("CREATE DATABASE " + name + " CHARACTER SET utf8mb4", "USE " + name));
  }

  /** Executes statements in order. Throws IllegalStateException with what MySQL says. */
  public void execute(List<String> statements) {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw failed("the MySQL of the tests refuses", e);
    }
  }

  /** Deletes the rows of these tables, and of gameq's own but those that say what it is. */
  public void empty(List<String> managed) {
    List<String> deletes = new ArrayList<>();
    deletes.add("SET foreign_key_checks = 0");
    managed.forEach(table -> deletes.add("DELETE FROM `" + table + "`"));
    try (Statement statement = connection.createStatement();
        ResultSet tables = statement.executeQuery("SHOW TABLES LIKE 'gameq\\_%'")) {
      while (tables.next()) {
        String table = tables.getString(1);
        if (!KEPT.contains(table)) {
          deletes.add("DELETE FROM " + table);
        }
      }
    } catch (SQLException e) {
      throw failed("the MySQL of the tests refuses", e);
    }
    execute(deletes);
  }

  /** Drops it. */
  @Override
  public void close() {
    execute(List.of("DROP DATABASE " + name));
    try {
      connection.close();
    } catch (SQLException e) {
      throw failed("the MySQL of the tests does not let go", e);
    }
  }

  private static IllegalStateException failed(String what, SQLException e) {
    return new IllegalStateException(what + ": " + e.getMessage(), e);
  }
}
