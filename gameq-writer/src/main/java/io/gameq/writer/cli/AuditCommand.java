package io.gameq.writer.cli;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Entry;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.mysql.CommandServers;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code audit}: what operators did, the newest first. */
@Command(
    name = "audit",
    description =
        "Lists what operators did, by command line or console, and who looked at values of rows;"
            + " the newest first. Needs MySQL only.",
    footer = {
      "",
      "Each entry was written before it was done. Nobody removes any by himself: gameq's users of"
          + " writers may not. Call --remove-older-than with the user that runs 'schema migrate'."
    })
public final class AuditCommand extends AdminCommand {
  /** Read at a time. */
  private static final int PAGE = 500;

  /** Removed at a time. */
  private static final int PIECE = 10_000;

  /** Entries, as command and console show them. */
  public static final RecordView<Entry> VIEW =
      new RecordView<Entry>()
          .json("id", Entry::id)
          .field("WHEN (UTC)", "at", Entry::at)
          .field("WHO", "who", of -> of.actor().who())
          .field("BY", "via", of -> of.actor().via())
          .field("WHAT", "action", Entry::action)
          .field("TO", "target", Entry::target)
          .field("DETAIL", "detail", Entry::detail);

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Most entries to list (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  @Option(
      names = "--remove-older-than",
      paramLabel = "DAYS",
      description =
          "Remove entries that are older by MySQL's clock, which is an entry itself, in place of"
              + " listing them. Needs DELETE on gameq_audit.")
  private @Nullable Integer removedDays;

  @Option(names = "--json", description = "One JSON object a line, nothing else; times in UTC.")
  private boolean json;

  @Override
  public Integer call() {
    if (limit < 1) {
      throw wrong("--limit must be 1 or more");
    }
    if (removedDays != null && removedDays < 1) {
      throw wrong("--remove-older-than must be 1 day or more");
    }
    CommandServers servers = servers();
    if (removedDays == null) {
      list(servers.mysql());
    } else {
      long removed = remove(servers.mysql(), removedDays);
      out().println(Shown.line("%,d %s removed", removed, removed == 1 ? "entry" : "entries"));
    }

    return ExitCodes.OK;
  }

  private long remove(MySql mysql, int days) {
    AuditTable.add(mysql, actor(), "audit remove", "audit log", "older than " + days + " days");
    long removed = 0;
    int piece;
    do {
      piece = AuditTable.purge(mysql, Duration.ofDays(days), PIECE);
      removed += piece;
    } while (piece == PIECE);
    return removed;
  }

  private void list(MySql mysql) {
    Consumer<List<Entry>> to = VIEW.printer(out(), json);
    int listed = 0;
    List<Entry> page;
    long before = Long.MAX_VALUE;
    do {
      page = AuditTable.newest(mysql, before, Math.min(PAGE, limit - listed));
      to.accept(page);
      listed += page.size();
      before = page.isEmpty() ? 0 : page.get(page.size() - 1).id();
    } while (!page.isEmpty() && listed < limit);
    if (!json) {
      out()
          .println(
              listed == 1
                  ? "1 entry"
                  : Shown.line("%,d entries", listed)
                      + (listed == limit ? ": --limit shows more, if there are" : ""));
    }
  }
}
