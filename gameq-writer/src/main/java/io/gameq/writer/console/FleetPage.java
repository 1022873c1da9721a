package io.gameq.writer.console;

import io.gameq.sign.NodeSign;
import io.gameq.writer.console.access.GuardedRoutes;
import io.gameq.writer.process.ListedNode;
import io.gameq.writer.process.ListedWriter;
import io.gameq.writer.process.Processes;
import io.gameq.writer.process.WriterSign;
import io.javalin.http.Context;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The game's nodes and writers, as they say of themselves. Thread-safe. */
final class FleetPage {
  private final Supplier<@Nullable Processes> processes;

  FleetPage(Supplier<@Nullable Processes> processes) {
    this.processes = processes;
  }

  /** A node; {@code toDo} is in one line each. */
  record Node(
      String id,
      long silentMillis,
      String state,
      boolean isThere,
      NodeSign sign,
      List<String> toDo) {
    static Node of(ListedNode node) {
      return new Node(
          node.id(),
          node.silentMillis(),
          node.state().text(),
          node.isThere(),
          node.sign(),
          node.toDo());
    }
  }

  /** A writer. */
  record Writer(
      String id,
      long silentMillis,
      String state,
      boolean isThere,
      WriterSign sign,
      List<String> toDo) {
    static Writer of(ListedWriter writer) {
      return new Writer(
          writer.id(),
          writer.silentMillis(),
          writer.state(),
          !writer.isGone(),
          writer.sign(),
          writer.toDo());
    }
  }

  /** The page; {@code isKnown} is false before the first look. */
  record Fleet(boolean isKnown, long nowMillis, List<Node> nodes, List<Writer> writers) {}

  void addTo(GuardedRoutes routes) {
    routes.look("fleet", this::fleet);
  }

  private Fleet fleet(Context context) {
    Processes look = processes.get();
    long now = System.currentTimeMillis();
    return look == null
        ? new Fleet(false, now, List.of(), List.of())
        : new Fleet(
            true,
            now,
            look.nodes().stream().map(Node::of).toList(),
            look.writers().stream().map(Writer::of).toList());
  }
}
