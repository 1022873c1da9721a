package io.gameq.writer.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.TokenRole;
import io.gameq.writer.console.ConsoleSessions.ConsoleSession;
import io.gameq.writer.http.AccessTokens;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsoleSessionsTest {
  private static final AccessToken OPS =
      new AccessToken("ops", TokenRole.ACT, "ops-0123456789abcdef");
  private static final AccessToken VIEWER =
      new AccessToken("viewer", TokenRole.READ, "viewer-0123456789abcdef");

  private final ConsoleSessions one = sessions("game", Duration.ZERO, OPS, VIEWER);

  private static ConsoleSessions sessions(String namespace, Duration later, AccessToken... tokens) {
    return new ConsoleSessions(
        new AccessTokens(List.of(tokens)), namespace, Clock.offset(Clock.systemUTC(), later));
  }

  @Test
  void anotherWriterKnowsTheSession() {
    ConsoleSession in = one.open("ann", VIEWER);
    ConsoleSession there = sessions("game", Duration.ZERO, OPS, VIEWER).find(in.cookie());
    assertNotNull(there);
    assertEquals("ann (viewer)", there.who());
    assertEquals(TokenRole.READ, there.token().role());
    assertEquals(in.csrf(), there.csrf());
    assertNotEquals(in.csrf(), one.open("ann", VIEWER).csrf());
  }

  @Test
  void itEndsAfterAWorkingDay() {
    String cookie = one.open("ann", OPS).cookie();
    Duration life = Duration.ofSeconds(ConsoleSessions.LIFE_SECONDS);
    assertNotNull(sessions("game", life.minusMinutes(1), OPS).find(cookie));
    assertNull(sessions("game", life, OPS).find(cookie));
  }

  @Test
  void itEndsWithItsToken() {
    String cookie = one.open("ann", OPS).cookie();
    assertNull(sessions("game", Duration.ZERO, VIEWER).find(cookie));
    AccessToken renewed = new AccessToken("ops", TokenRole.ACT, "new-0123456789abcdef");
    assertNull(sessions("game", Duration.ZERO, renewed).find(cookie));
  }

  @Test
  void itIsOfOneNamespace() {
    assertNull(sessions("other", Duration.ZERO, OPS).find(one.open("ann", OPS).cookie()));
  }

  @Test
  void nothingOfItCanBeChanged() {
    String cookie = one.open("ann", VIEWER).cookie();
    String[] parts = cookie.split("\\.");
    for (int i = 0; i < parts.length; i++) {
      String[] changed = parts.clone();
      changed[i] = (changed[i].charAt(0) == '1' ? '2' : '1') + changed[i].substring(1);
      assertNull(one.find(String.join(".", changed)), "part " + i);
    }
    ConsoleSession in = one.open("ann", VIEWER);
    String unsigned = in.cookie().substring(0, in.cookie().lastIndexOf('.'));
    assertNull(one.find(unsigned + "." + in.csrf()), "the page's token is no session");
    for (String wrong : List.of("", ".", "...", unsigned, unsigned + ".", unsigned + ".%")) {
      assertNull(one.find(wrong), wrong);
    }
    assertNotNull(one.find(in.cookie()));
  }
}
