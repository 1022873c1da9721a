package io.gameq.writer.setup;

import io.gameq.GameQueueException;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedBacklog.TopicBacklog;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.PrimaryConnector.RedisIdentity;
import io.gameq.redis.PrimaryConnector.Seen;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.Slots;
import io.gameq.term.Term;
import io.gameq.term.Term.TermMovedException;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.terminal.Confirmation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code term}: which Redis counts, and having another one count. */
@Command(
    name = "term",
    description =
        "Shows which Redis counts by MySQL, and has another one count where nothing proves that it"
            + " took over.")
public final class TermCommand extends AdminCommand {
  /** Whoever runs gives a sign every three seconds. */
  private static final long SILENT_MILLIS = 15_000;

  private static final Logger LOG = LoggerFactory.getLogger(TermCommand.class);

  @Command(
      name = "show",
      description = "Shows which Redis counts, and whether the configured one does.",
      footer = {"", "Ends with 1 when the configured one does not count."})
  int show() {
    CommandServers servers = servers();
    WriterConfig settings = servers.settings();
    MySql mysql = servers.mysql();
    RedisConnector connector = servers.connector();
    Term term = new TermTable(mysql).current();
    TextTable lines = TextTable.withoutHeadings(out(), 2);
    lines.print(
        List.of(
            List.of("number", Long.toString(term.number())),
            List.of("reached at", String.join(", ", term.addresses())),
            List.of("run id", term.runId()),
            List.of("last sign of life", Shown.duration(term.silentMillis()) + " ago")));
    PrimaryState counting = PrimaryState.of(term, connector, settings);
    lines.print(List.of(List.of("from here", counting.text())));
    boolean counts = false;
    String configured;
    try {
      Seen seen = PrimaryConnector.see(connector);
      try (RedisConnection redis = seen.redis()) {
        counts = seen.primary().runId().equals(term.runId());
        configured =
            "%s %s: %s"
                .formatted(
                    seen.primary().address(),
                    counts ? "counts" : "does not count",
                    RedisContents.of(redis, settings));
      }
    } catch (GameQueueException e) {
      configured = ErrorLine.of(e);
    }
    lines.print(List.of(List.of("configured", configured)));
    return counts ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  @Command(
      name = "set",
      description = {
        "Has the configured Redis count from now on. Nodes and writers go over to it within"
            + " seconds, if they know its address; live nodes put back what it lacks.",
        "Not needed after a failover to a replica or by Sentinel, nor where Redis is started again"
            + " at its address: these prove themselves."
      })
  int set(
      @Mixin Confirmation confirmation,
      @Option(
              names = "--leave",
              description =
                  "Even where the one that counts lives, or holds what is not written: what waits"
                      + " there is written by nobody then.")
          boolean leaves) {
    CommandServers servers = servers();
    WriterConfig settings = servers.settings();
    MySql mysql = servers.mysql();
    RedisConnector connector = servers.connector();
    TermTable terms = new TermTable(mysql);
    Term before = terms.current();
    Seen seen = PrimaryConnector.see(connector);
    try (RedisConnection redis = seen.redis()) {
      boolean unused = RedisIdentity.require(redis, Settings.identity(mysql));
      String address = seen.primary().address();
      if (seen.primary().runId().isEmpty()) {
        throw new GameQueueException(
            "Redis at %s does not tell its run_id: nothing is compared there".formatted(address));
      }
      if (seen.primary().runId().equals(before.runId())) {
        out().println("Redis at %s counts already".formatted(address));
        return ExitCodes.OK;
      }
      PrimaryState counting = PrimaryState.of(before, connector, settings);
      String obstacle = counting.obstacle();
      if (!leaves && !obstacle.isEmpty()) {
        throw new GameQueueException(
            obstacle
                + ". Make the new one its replica and promote it, which moves everything and"
                + " needs no command; or give it up by --leave");
      }
      confirmation.require(
          "Redis at %s (%s) shall count in place of the one at %s (%s)?"
              .formatted(
                  address,
                  RedisContents.of(redis, settings),
                  String.join(" or ", before.addresses()),
                  counting.text()));
      AuditTable.add(
          mysql,
          actor(),
          "term set",
          address,
          "number %s, in place of %s: %s"
              .formatted(before.number() + 1, before.address(), counting.text()));
      if (!terms.moveOn(before, seen.primary())) {
        throw new TermMovedException("another Redis took over at the same moment: look again");
      }
      out().println("Redis at %s counts, as number %s".formatted(address, before.number() + 1));
      return ExitCodes.OK;
    }
  }

  /** What a Redis holds that is not written. */
  private record RedisContents(long owners, long messages) {
    static RedisContents of(RedisConnection redis, WriterConfig settings) {
      Backlog backlog = Backlog.of(redis, new Slots(settings.namespace(), settings.slots()));
      return new RedisContents(
          backlog.owners(),
          backlog.topics().stream()
              .map(TopicBacklog::counts)
              .mapToLong(of -> of.pending() + of.dead())
              .sum());
    }

    boolean isNothing() {
      return owners + messages == 0;
    }

    @Override
    public String toString() {
      return isNothing()
          ? "nothing waits there"
          : "%s and %s wait there"
              .formatted(Shown.count(owners, "owner"), Shown.count(messages, "message"));
    }
  }

  /**
   * The Redis that counts, as this host finds it.
   *
   * @param held null when it was not reached
   */
  private record PrimaryState(Term term, @Nullable RedisContents held) {
    /** Tries the addresses under which it was reached; those of other hosts' own are not ours. */
    static PrimaryState of(Term term, RedisConnector connector, WriterConfig settings) {
      for (String address : term.addresses()) {
        int port = address.lastIndexOf(':');
        if (port < 0) {
          continue;
        }
        String host = address.substring(address.indexOf('/') + 1, port);
        try (RedisConnection redis =
            connector.openAt(host, Integer.parseInt(address.substring(port + 1)))) {
          if (RedisServerCheck.check(redis).runId().equals(term.runId())) {
            return new PrimaryState(term, RedisContents.of(redis, settings));
          }
        } catch (GameQueueException e) {
          LOG.debug("the Redis that counts is not at {} from here", address, e);
        }
      }
      return new PrimaryState(term, null);
    }

    String text() {
      return held == null ? "it does not answer here" : "it answers, and " + held;
    }

    /** Why another one is not to count; empty when nothing is known that speaks against it. */
    String obstacle() {
      if (held != null && !held.isNothing()) {
        return "the Redis that counts answers, and " + held;
      }
      return held == null && term.number() > 0 && term.silentMillis() < SILENT_MILLIS
          ? "the Redis that counts does not answer here, but gave a sign of life to somebody %s ago"
              .formatted(Shown.duration(term.silentMillis()))
          : "";
    }
  }
}
