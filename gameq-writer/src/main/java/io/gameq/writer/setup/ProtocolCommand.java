package io.gameq.writer.setup;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.redis.PrimaryConnector.RedisIdentity;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.Protocol;
import io.gameq.sign.Protocol.ProtocolRange;
import io.gameq.term.Term.TermMovedException;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.status.Processes;
import io.gameq.writer.status.Processes.NodeStatus;
import io.gameq.writer.terminal.Confirmation;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code protocol}: in which formats nodes and writers write, and having them write newer ones. */
@Command(
    name = "protocol",
    description =
        "Shows in which formats nodes and writers write, which ones each that runs speaks, and"
            + " whether newer ones can be had.",
    footer = {"", "Ends with 1 when a process that runs holds newer ones back."})
public final class ProtocolCommand extends AdminCommand {

  @Override
  public Integer call() {
    CommandServers servers = servers();
    ProtocolLook look = ProtocolLook.of(servers);
    Protocol now = look.now;
    TextTable.withoutHeadings(out(), 2)
        .print(
            List.of(
                List.of("namespace", servers.settings().namespace()),
                List.of("protocol", now.version() + ": " + Protocol.brought(now.version())),
                List.of(
                    "raised", now.since().isEmpty() ? "never" : now.since() + " by " + now.by()),
                List.of(
                    "this program",
                    "gameq %s, speaks %s"
                        .formatted(Protocol.RELEASE, ProtocolRange.ours().text()))));
    out().println();
    Speaker.VIEW.printer(out(), false).accept(look.speakers);
    List<String> obstacles = look.obstacles();
    obstacles.forEach(out()::println);
    if (obstacles.isEmpty()) {
      out().println(look.change());
    }
    return obstacles.isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  @Command(
      name = "raise",
      description = {
        "Has nodes and writers write the newest formats that this program knows, within seconds and"
            + " without a restart. Refuses while one runs that does not speak them.",
        "Older builds are refused from then on: there is no way back."
      })
  int raise(
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = "Only say whether it could be done now.")
          boolean dryRun) {
    CommandServers servers = servers();
    ProtocolLook look = ProtocolLook.of(servers);
    List<String> obstacles = look.obstacles();
    if (!obstacles.isEmpty()) {
      obstacles.forEach(out()::println);
      out().println("nothing was changed: protocol " + look.now.version());
      return ExitCodes.FOUND_SOMETHING;
    }
    if (dryRun || look.isNewest()) {
      out().println(look.change());
      return ExitCodes.OK;
    }
    confirmation.require(look.change() + "; older builds are refused then. Raise it?");
    MySql mysql = servers.mysql();
    Protocol next = Protocol.raised(look.next, actor().who());
    String change = "%s -> %s".formatted(look.now.version(), look.next);
    AuditTable.add(mysql, actor(), "protocol raise", servers.settings().namespace(), change);
    if (!Settings.raise(mysql, look.now, next)) {
      throw new TermMovedException("somebody else raised it at the same moment: look again");
    }
    servers.redis().run(redis -> RedisIdentity.note(redis, Settings.identity(mysql)));
    out().println("raised: " + change);
    return ExitCodes.OK;
  }

  /** A process that runs. */
  private record Speaker(String kind, String id, ProcessIdentity process, long writes) {
    static final RecordView<Speaker> VIEW =
        new RecordView<Speaker>()
            .column("PROCESS", of -> of.kind + " " + Shown.text(of.process.name()))
            .column("ID", Speaker::id)
            .column("HOST", of -> Shown.text(of.process.host()))
            .column("RELEASE", of -> Shown.text(of.process.version()))
            .column("SPEAKS", of -> of.process.speaks().text())
            .column("WRITES", of -> Long.toString(Math.max(1, of.writes)));

    String obstacle(int next) {
      return "%s %s (%s on %s) is gameq %s, which speaks protocol %s and not %s: upgrade or end it"
          .formatted(
              kind,
              Shown.text(process.name()),
              id,
              Shown.text(process.host()),
              Shown.text(process.version()),
              process.speaks().text(),
              next);
    }
  }

  /** What the database is at, and who runs. */
  private record ProtocolLook(Protocol now, int next, List<Speaker> speakers) {
    static ProtocolLook of(CommandServers servers) {
      Protocol now = Settings.identity(servers.mysql()).protocol();
      Processes all = servers.redis().ask(of -> Processes.of(of, servers.settings().namespace()));
      Stream<Speaker> nodes =
          all.nodes().stream()
              .filter(NodeStatus::isThere)
              .map(of -> new Speaker("node", of.id(), of.sign().process(), of.sign().protocol()));
      Stream<Speaker> writers =
          all.writers().stream()
              .filter(of -> !of.isGone())
              .map(of -> new Speaker("writer", of.id(), of.sign().process(), of.sign().protocol()));
      return new ProtocolLook(
          now, ProtocolRange.ours().newest(), Stream.concat(nodes, writers).toList());
    }

    boolean isNewest() {
      return now.version() >= next;
    }

    /** Who holds the next one back, each in one line. */
    List<String> obstacles() {
      return speakers.stream()
          .filter(of -> !isNewest() && !of.process.speaks().speaks(next))
          .map(of -> of.obstacle(next))
          .toList();
    }

    String change() {
      return isNewest()
          ? "nothing to raise: gameq %s speaks no newer protocol than %s"
              .formatted(Protocol.RELEASE, now.version())
          : "from protocol %s to %s, which brings %s"
              .formatted(now.version(), next, Protocol.brought(next));
    }
  }
}
