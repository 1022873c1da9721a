package io.gameq.lab.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.servers.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScratchDatabaseTest {
  @Test
  void whatAFileSetsOfItsConnectionDoesNotReachThoseOfTheGame() throws Exception {
    try (ScratchDatabase database =
        new ScratchDatabase(TestServers.mysql().freshDatabase("scratch").config(1))) {
      database.runAlone(List.of("SET @leaks = 7", "CREATE TABLE t (id INT PRIMARY KEY)"));
      try (Connection connection = database.mysql().connection();
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("SELECT COALESCE(@leaks, 'no')")) {
        rows.next();
        assertEquals("no", rows.getString(1));
      }
    }
  }
}
