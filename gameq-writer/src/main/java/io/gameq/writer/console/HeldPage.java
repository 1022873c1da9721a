package io.gameq.writer.console;

import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.owner.OwnerId;
import io.gameq.writer.console.access.GuardedRoutes;
import io.gameq.writer.console.access.RequestBody;
import io.gameq.writer.console.access.Visitor;
import io.gameq.writer.flushnow.FlushNow;
import io.gameq.writer.flushnow.FlushProgress;
import io.gameq.writer.pause.PauseTarget;
import io.gameq.writer.pause.Pausing;
import io.javalin.http.Context;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What is held back: pauses of operators, and tables that take no rows; and what is to be written
 * at once. Thread-safe; what is done is audited by the classes that do it.
 */
final class HeldPage {
  /** Whoever gives more is told by the pause itself. */
  private static final int MOST_CHARS = 1_000;

  /** On the first page; all of them are among the dead letters. */
  private static final int MOST_OWNERS = 5;

  private final ConsoleServers servers;
  private final Console.WriterView writer;

  HeldPage(ConsoleServers servers, Console.WriterView writer) {
    this.servers = servers;
    this.writer = writer;
  }

  /** The page. */
  record Held(List<HeldState> states) {}

  /** What is left of what was to be written at once. */
  record Left(boolean isDone, String text) {}

  void addTo(GuardedRoutes routes) {
    routes.look("held", this::held);
    routes.look("held-owners", this::owners);
    routes.act("pause", this::pause);
    routes.act("resume", this::resume);
    routes.act("flush", this::flush);
  }

  private Held held(Context context) {
    return new Held(HeldState.of(writer.pauses().get().all(), writer.allParked()));
  }

  /** Those of the newest dead letters. */
  private Held owners(Context context) {
    return new Held(
        servers.mysql().ask(handle -> DeadLetterTable.newestOwners(handle, MOST_OWNERS)).stream()
            .map(of -> HeldState.ofLetters(of.owner(), of.letters()))
            .toList());
  }

  private Held pause(RequestBody body, Visitor visitor) {
    return held(
        List.of(pausing().pause(visitor.actor(), target(body), body.text("reason", MOST_CHARS))));
  }

  private Held resume(RequestBody body, Visitor visitor) {
    return held(pausing().resume(visitor.actor(), target(body)).stream().toList());
  }

  private static Held held(List<Pause> pauses) {
    return new Held(HeldState.of(pauses, Map.of()));
  }

  private Pausing pausing() {
    return new Pausing(servers.mysql(), servers.slots().count());
  }

  private static PauseTarget target(RequestBody body) {
    String name = Objects.requireNonNullElse(body.optionalText("name", MOST_CHARS), "");
    return PauseTarget.of(body.text("scope", MOST_CHARS), name);
  }

  private Left flush(RequestBody body, Visitor visitor) {
    String owner = body.optionalText("owner", MOST_CHARS);
    FlushNow flush = new FlushNow(servers.mysql(), servers.redis(), servers.slots());
    FlushProgress progress =
        owner == null
            ? flush.all(visitor.actor())
            : flush.owners(visitor.actor(), List.of(OwnerId.of(owner)));
    FlushProgress.Left left = progress.look();
    return new Left(left.isDone(), left.text());
  }
}
