package io.gameq.sign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.sign.Protocol.ProtocolRange;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SignFieldsTest {
  private static final NodeSign SIGN =
      new NodeSign(
          new ProcessIdentity("n1", "höst", 17, "1.2", new ProtocolRange(1, 2), 1_790_000_000_000L),
          NodeSign.RUNNING,
          1,
          true,
          new NodeSign.Sessions(3, 1),
          new NodeSign.Commits(10, 30, 4, 2, 0.25),
          new NodeSign.Wal("/var/wal/n1", 1 << 20, 4L << 30, 1, 1_500),
          new NodeSign.Healings(2, 1_790_000_000_001L, 5, 0));

  @Test
  void whatIsSaidIsReadAgain() {
    Map<String, String> fields = SignFields.of(SIGN);
    assertEquals("3", fields.get("sessions"));
    assertEquals("0.25", fields.get("room"));
    assertEquals(SIGN, SignFields.read(NodeSign.class, fields));
  }

  @Test
  void theReleaseIsThatOfThePom() throws Exception {
    String pom = Files.readString(Path.of("pom.xml"));
    assertTrue(pom.contains("<version>" + Protocol.RELEASE + "</version>\n  </parent>"), pom);
  }

  @Test
  void whatAnotherVersionDoesNotSayIsNothing() {
    Map<String, String> fields = new HashMap<>(SignFields.of(SIGN));
    fields.remove("heals");
    fields.remove("version");
    fields.remove("newestProtocol");
    fields.put("journaled", "many");
    fields.put("mysql", "perhaps");
    fields.put("tomorrow", "1");
    NodeSign read = SignFields.read(NodeSign.class, fields);
    assertEquals(0, read.healings().heals());
    assertEquals("", read.process().version());
    assertEquals("1", new ProtocolRange(0, 0).text());
    assertFalse(read.process().speaks().speaks(2));
    assertEquals(0, read.wal().journaled());
    assertEquals(false, read.mysql());
    assertEquals(5, read.healings().replayed());
  }
}
