package io.gameq.writer.cli;

import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.OwnerErasure;
import io.gameq.writer.admin.OwnerErasure.Erased;
import io.gameq.writer.admin.OwnerErasure.HowToTake;
import io.gameq.writer.admin.OwnerExport;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.terminal.Confirmation;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What is asked for by whoever an owner is: all of it, or that it goes. */
public final class OwnerCommands {
  private static final int MOST_SECONDS = 3_600;

  private OwnerCommands() {}

  /** Which messages are an owner's, besides those whose key or group is its id. */
  static final class MessageKeys {
    @Option(
        names = "--message-key",
        paramLabel = "TEXT",
        description =
            "Messages with this key or group are the owner's too, as with its id; of one owner.")
    private List<String> texts = new ArrayList<>();
  }

  /** {@code export}: what there is of an owner. */
  @Command(
      name = "export",
      description =
          "Prints all that gameq and its tables hold of an owner, as JSON, with the values of rows"
              + " and the payloads of messages; that is in the audit log. Changes nothing.",
      footer = {"", "Looks at every message of every topic."})
  public static final class ExportCommand extends AdminCommand {
    @Mixin private MessageKeys messageKeys = new MessageKeys();

    @Parameters(paramLabel = "OWNER", description = "As the game writes it: player:42.")
    private String owner = "";

    @Option(names = "--json", description = "One JSON object on one line.")
    private boolean json;

    @Override
    public Integer call() {
      OwnerId id = OwnerId.of(owner);
      CommandServers servers = servers();
      Map<String, @Nullable Object> all =
          new OwnerExport(servers, actor()).of(id, messageKeys.texts);
      out().println(json ? RecordView.line(all) : RecordView.indented(all));
      return ExitCodes.OK;
    }
  }

  /** {@code erase}: removes it for good. */
  @Command(
      name = "erase",
      description =
          "Removes all that gameq and its tables hold of owners for good, so that no WAL brings it"
              + " back; needs a writer that runs.",
      footer = {
        "",
        "An owner that is open is left, unless it is taken over. Ends with 1 when one is left, and"
            + " says why; what was cut short is to be run again. Looks at every message of every"
            + " topic."
      })
  public static final class EraseCommand extends AdminCommand {
    @Mixin private Confirmation confirmation = new Confirmation();
    @Mixin private MessageKeys messageKeys = new MessageKeys();

    @Parameters(
        arity = "1..*",
        paramLabel = "OWNER",
        description = "Owners, as the game writes them: player:42.")
    private List<String> owners = new ArrayList<>();

    @Option(names = "--dry-run", description = "Only say what there is, and where it is open.")
    private boolean dryRun;

    @Option(names = "--close", description = "Ask the node that has an owner open to close it.")
    private boolean asks;

    @Option(
        names = "--take-over",
        description =
            "Take an owner from the node that has it open, after --close where that is given: it"
                + " loses what it has not committed.")
    private boolean takesOver;

    @Option(
        names = "--timeout",
        paramLabel = "SECONDS",
        defaultValue = "60",
        description =
            "Wait so long at most for a node that was asked, and for writers to write what is on"
                + " its way (default: ${DEFAULT-VALUE}).")
    private int timeoutSeconds = 60;

    @Override
    public Integer call() throws InterruptedException {
      List<OwnerId> ids = owners.stream().distinct().map(OwnerId::of).toList();
      if (ids.size() > 1 && !messageKeys.texts.isEmpty()) {
        throw wrong("--message-key is for one owner");
      }
      if (timeoutSeconds < 1 || timeoutSeconds > MOST_SECONDS) {
        throw wrong("--timeout takes 1 to %s seconds".formatted(MOST_SECONDS));
      }
      CommandServers servers = servers();
      OwnerErasure erasure = new OwnerErasure(servers);
      if (dryRun) {
        return show(erasure, ids);
      }
      String all = Shown.count(ids.size(), "owner");
      confirmation.require(
          "Erase all of %s for good, in Redis and MySQL (--dry-run shows it)?".formatted(all));
      AuditTable.add(servers.mysql(), actor(), "erase", all, "");
      HowToTake how = new HowToTake(asks, takesOver, Duration.ofSeconds(timeoutSeconds));
      return erase(erasure, ids, how, servers.settings().writer().tombstoneDays());
    }

    private int show(OwnerErasure erasure, List<OwnerId> ids) {
      int exitCode = ExitCodes.OK;
      for (OwnerId id : ids) {
        OwnerErasure.Holdings found = erasure.look(id, messageKeys.texts);
        String holder = erasure.holder(id);
        exitCode = holder == null ? exitCode : ExitCodes.FOUND_SOMETHING;
        print(
            id,
            (found.isNothing() ? "nothing is left" : "would be erased: " + found)
                + (holder == null ? "" : "; it is open " + holder));
      }
      return exitCode;
    }

    private int erase(OwnerErasure erasure, List<OwnerId> ids, HowToTake how, int tombstoneDays)
        throws InterruptedException {
      int left = 0;
      for (OwnerId id : ids) {
        Erased of = erasure.erase(id, messageKeys.texts, how);
        left += of.isDone() ? 0 : 1;
        print(id, of.text());
        String stays = of.isDone() ? erasure.remains(id) : "";
        if (!stays.isEmpty()) {
          print(id, "stays: " + stays);
        }
      }
      LocalDate until =
          LocalDate.now(ZoneOffset.UTC)
              .plusDays(Math.max(tombstoneDays, TombstoneHorizon.HANDLED_KEPT.toDays()) + 1);
      out()
          .println(
              "%s of %s erased".formatted(ids.size() - left, Shown.count(ids.size(), "owner")));
      if (left < ids.size()) {
        out()
            .println(
                ("what stays has no values: sessions, tombstones, discards, handovers and messages"
                        + " handled until %s, audit entries until 'audit --remove-older-than', a"
                        + " session in Redis for an hour; WALs, backups and binary logs: see"
                        + " OPERATING.md")
                    .formatted(until));
      }
      return left == 0 ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }

    private void print(OwnerId id, String text) {
      out().println(Shown.text(id.id()) + ": " + text);
      out().flush();
    }
  }
}
