package io.gameq.mysql.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.gameq.mysql.tables.AuditTable.Actor;
import org.junit.jupiter.api.Test;

class AuditTableTest {
  @Test
  void whoActsIsTheUserOfTheOperatingSystemWhateverTheJvmIsTold() {
    String before = System.getProperty("user.name");
    Actor here = Actor.here();
    System.setProperty("user.name", "somebody-else");
    try {
      assertEquals(here, Actor.here());
      assertFalse(Actor.here().who().contains("somebody-else"), here::who);
    } finally {
      System.setProperty("user.name", before);
    }
  }
}
