package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder.WalSet;
import io.gameq.owner.OwnerId;
import io.gameq.recovery.ServerOptions.RecoveryServers;
import io.gameq.terminal.Shown;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A command over WALs, about some owners or all. */
abstract class WalCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--owner",
      paramLabel = "OWNER",
      description =
          "Only these owners, as the game writes them: player:42; may be repeated (default: all).")
  List<String> owners = new ArrayList<>();

  @Parameters(
      arity = "1..*",
      paramLabel = "WAL",
      description =
          "WAL directories, one for each start of a node: <node>-<start>-<process>; or directories"
              + " above them.")
  List<Path> directories = List.of();

  final CommandLine commandLine() {
    return Objects.requireNonNull(spec).commandLine();
  }

  final PrintWriter out() {
    return commandLine().getOut();
  }

  /**
   * The WALs.
   *
   * @throws GameQueueException naming a directory that holds none
   */
  final WalSet openWals() {
    return WalSet.open(directories);
  }

  /**
   * Encoded ids of the owners; empty for all.
   *
   * @throws GameQueueException when one is no owner id
   */
  final Set<String> owners() {
    return owners.stream()
        .map(owner -> OwnerId.of(owner).encoded())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** As they were written on the command line. */
  static String asArguments(String before, List<?> values) {
    return values.stream()
        .map(value -> before + ServerOptions.quoted(value.toString()))
        .collect(Collectors.joining());
  }

  /** One that plans what became of the rows, and so asks the servers. */
  abstract static class PlannedCommand extends WalCommand {
    @Mixin final ServerOptions servers = new ServerOptions();

    @Override
    public Integer call() {
      ProgressLine progress = new ProgressLine(commandLine().getErr());
      try (RecoveryServers open = servers.open(openWals())) {
        return call(open, progress);
      }
    }

    abstract int call(RecoveryServers open, ProgressLine progress);

    /** Plans all WALs; {@code sink} sees the rows too. */
    final Plan plan(
        RecoveryServers open,
        ProgressLine progress,
        Planner.Options options,
        Consumer<PlannedRow> sink) {
      Plan plan = new Plan(open, options, progress::step);
      plan.planner()
          .plan(
              row -> {
                plan.add(row);
                sink.accept(row);
              });
      progress.end();
      requireFound(plan);
      return plan;
    }

    /** Refuses owners of whom no WAL holds anything: they are misspelt, or the WAL is another. */
    final void requireFound(Plan plan) {
      if (!owners.isEmpty() && plan.all() == 0) {
        throw new GameQueueException(
            "these WALs hold no row of " + String.join(", ", owners) + ": is the owner right?");
      }
    }
  }

  /**
   * Says how far a command is: on one line of a terminal that changes, else a line every few
   * seconds. One thread.
   */
  static final class ProgressLine {
    private static final long TERMINAL_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LOG_EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int BAR = 30;

    private final PrintWriter err;
    private final boolean terminal = CommandLine.Help.Ansi.AUTO.enabled();
    private final long begunNanos = System.nanoTime();
    private long lastNanos = begunNanos;
    private int width;

    ProgressLine(PrintWriter err) {
      this.err = err;
    }

    /** A step that cannot be measured. */
    void step(String text) {
      if (terminal) {
        show(text + " ...");
      }
    }

    /** So many of all are done. */
    void rows(String verb, long done, long all) {
      long now = System.nanoTime();
      if (now - lastNanos < (terminal ? TERMINAL_EVERY_NANOS : LOG_EVERY_NANOS)) {
        return;
      }
      lastNanos = now;
      int full = all == 0 ? BAR : (int) Math.min(BAR, BAR * done / all);
      show(
          Shown.line(
              "%s [%s%s] %,d of %,d rows, %,.0f rows/s",
              verb,
              "#".repeat(full),
              " ".repeat(BAR - full),
              done,
              all,
              done / ((now - begunNanos) / 1e9)));
    }

    private void show(String text) {
      if (terminal) {
        err.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
        width = text.length();
      } else {
        err.println(text);
      }
      err.flush();
    }

    /** Leaves the line free for what is printed next. */
    void end() {
      if (terminal && width > 0) {
        err.print("\r" + " ".repeat(width) + "\r");
        err.flush();
        width = 0;
      }
    }
  }
}
