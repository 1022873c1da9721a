package io.gameq.writer.trace;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.MySqlOwner;
import io.gameq.writer.mysql.MySqlOwner.OwnerRecord;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.RedisOwner.ClaimRecord;
import io.gameq.writer.redis.RedisOwner.SessionRows;
import io.gameq.writer.status.Processes;
import io.gameq.writer.trace.NextStep.OwnerTrace;
import io.gameq.writer.trace.Tracer.RowTrace;
import io.gameq.writer.trace.Tracer.RowTrace.RowPlace;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code trace}: where an owner or a row is, and what will happen next. */
@Command(
    name = "trace",
    description =
        "Shows where an owner or a row is on the way from the game to MySQL, in Redis and in MySQL"
            + " side by side, and what will happen next; changes nothing.",
    footer = {
      "",
      "  gameq-writer trace player:42       an owner, as the game writes it",
      "  gameq-writer trace item 42,3       a row: its table, and its key as other commands show"
          + " it",
      "",
      "Ends with 1 when there is something to act on, or nobody knows the owner or row."
    })
public final class TraceCommand extends AdminCommand {
  @Parameters(
      arity = "1..2",
      paramLabel = "OWNER | TABLE KEY",
      description = "An owner: player:42. Or a table and a primary key: item 42,3.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--json", description = "One JSON object on one line, nothing else.")
  private boolean json;

  @Option(
      names = "--values",
      description = "Of a row, show the values of its columns; that is noted in the audit log.")
  private boolean values;

  @Option(
      names = "--owner",
      paramLabel = "OWNER",
      description =
          "Of a row, look among the changes of this owner as well; needed where neither the key nor"
              + " MySQL tells whose row it is.")
  private List<String> owners = new ArrayList<>();

  @Option(
      names = "--wal",
      paramLabel = "DIRECTORY",
      description = "Look into these logs of nodes as well, or those that are in it.")
  private List<Path> wals = new ArrayList<>();

  @Override
  public Integer call() {
    boolean ofRow = names.size() == 2;
    if (!ofRow && (values || !owners.isEmpty())) {
      throw wrong("--values and --owner are for a row: give a table and a key");
    }
    CommandServers servers = servers();
    String namespace = servers.settings().namespace();
    Tracer tracer =
        new Tracer(servers, () -> servers.redis().ask(of -> Processes.of(of, namespace)).parked());
    NextStep next = ofRow ? row(tracer, servers.mysql()) : owner(tracer);
    return next.kind().isToAct() ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
  }

  private NextStep owner(Tracer tracer) {
    OwnerId owner = OwnerId.of(names.get(0));
    List<WalSearch.WalSummary> inWals = wals.isEmpty() ? List.of() : WalSearch.owner(wals, owner);
    OwnerTrace trace = tracer.owner(owner);
    if (json) {
      out().println(json(trace, inWals));
    } else {
      OwnerPage.print(trace, inWals, out());
    }
    return NextStep.of(trace);
  }

  private NextStep row(Tracer tracer, MySql mysql) {
    String table = names.get(0);
    String key = names.get(1);
    String rowKey = Tracer.rowKey(table, key);
    List<WalSearch.WalMatch> inWals = wals.isEmpty() ? List.of() : WalSearch.row(wals, rowKey);
    if (values) {
      AuditTable.add(mysql, actor(), "show values", rowKey, "trace");
    }
    RowTrace trace = tracer.row(table, key, owners.stream().map(OwnerId::of).toList(), inWals);
    if (json) {
      out().println(json(trace, values));
    } else {
      print(trace, values, out());
    }
    return trace.next();
  }

  private static void print(RowTrace trace, boolean values, PrintWriter out) {
    out.println(
        Shown.text(trace.rowKey())
            + (trace.isManaged() ? "" : ": no row of a managed table has this key"));
    places(values).printer(out, false).accept(trace.places());
    List<RowPlace> images = trace.places().stream().filter(of -> of.image() != null).toList();
    if (!images.isEmpty()) {
      columns(images, values, out);
    }
    for (OwnerTrace of : trace.owners()) {
      out.println(Shown.line("owner %s: %s", of.owner().id(), NextStep.of(of).sentence()));
    }
    out.println("next: " + trace.next().sentence());
  }

  /** Where a row is, as command and console show it. */
  public static RecordView<RowPlace> places(boolean values) {
    return new RecordView<RowPlace>()
        .field("WHERE", "where", RowPlace::where, of -> of.where().text())
        .field("OWNER", "owner", of -> of.owner().id())
        .jsonOf(of -> Map.of(isLetter(of) ? "letter" : "session", of.session()))
        .field("VERSION", "version", RowPlace::versionText)
        .column(
            "COMMITTED (UTC)", of -> of.version() == 0 ? "" : Shown.utc(Shown.time(of.version())))
        .jsonOf(of -> of.op() == null ? Map.of() : Map.of("op", of.opName()))
        .column("OP", RowPlace::opName)
        .column("SESSION", of -> isLetter(of) ? "letter " + of.session() : of.session())
        .field("", "note", RowPlace::note)
        .jsonOf(of -> values ? Map.of("columns", of.columns()) : Map.of())
        .leavingOut("SESSION", "OP", "VERSION");
  }

  private static boolean isLetter(RowPlace of) {
    return of.where() == RowPlace.PlaceKind.DEAD_LETTER;
  }

  /** Side by side, a star where they differ; or, with values hidden, which ones differ. */
  private static void columns(List<RowPlace> places, boolean values, PrintWriter out) {
    List<Map<String, String>> images = new ArrayList<>();
    Set<String> columns = new LinkedHashSet<>();
    for (RowPlace place : places) {
      images.add(place.columns());
      columns.addAll(place.columns().keySet());
    }
    Set<String> different = new LinkedHashSet<>(columns);
    different.removeIf(
        column ->
            images.stream().map(of -> of.get(column)).filter(Objects::nonNull).distinct().count()
                == 1);
    if (!values) {
      if (images.size() > 1) {
        out.println(
            different.isEmpty()
                ? "all columns are the same"
                : "columns that differ: "
                    + Shown.text(String.join(", ", different))
                    + " (their values: --values)");
      }
      return;
    }
    List<String> headings = new ArrayList<>(List.of("COLUMN"));
    places.forEach(of -> headings.add(of.where().text().toUpperCase(Locale.ROOT)));
    List<List<String>> lines = new ArrayList<>();
    for (String column : columns) {
      List<String> line = new ArrayList<>();
      line.add((different.contains(column) ? "* " : "  ") + Shown.text(column));
      images.forEach(of -> line.add(of.containsKey(column) ? "= " + of.get(column) : ""));
      lines.add(line);
    }
    new TextTable(out, headings.toArray(String[]::new)).print(lines);
  }

  // As JSON: times in UTC or ms, versions as text.

  private static String json(OwnerTrace trace, List<WalSearch.WalSummary> inWals) {
    Map<String, Object> all = owner(trace);
    if (!inWals.isEmpty()) {
      all.put("wals", inWals);
    }
    return RecordView.line(all);
  }

  private static String json(RowTrace trace, boolean values) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("row", trace.rowKey());
    all.put("managed", trace.isManaged());
    all.put("places", trace.places().stream().map(places(values)::json).toList());
    all.put("owners", trace.owners().stream().map(TraceCommand::owner).toList());
    next(all, trace.next());
    return RecordView.line(all);
  }

  private static void next(Map<String, Object> all, NextStep next) {
    all.put("state", Shown.lower(next.kind()));
    all.put("next", next.sentence());
  }

  private static Map<String, Object> owner(OwnerTrace trace) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("owner", trace.owner().id());
    all.put("slot", trace.slot());
    MySqlOwner mysql = trace.mysql();
    if (mysql == null) {
      all.put("mysqlError", trace.mysqlError());
    } else {
      all.put("mysql", mysql(mysql));
    }
    all.put("aliveNode", trace.aliveNode());
    RedisOwner redis = trace.redis();
    if (redis == null) {
      all.put("redisError", trace.redisError());
    } else {
      all.put("redis", redis(redis));
    }
    all.put("pauses", trace.pauses().stream().map(Pauses::json).toList());
    next(all, NextStep.of(trace));
    return all;
  }

  private static Map<String, Object> mysql(MySqlOwner of) {
    Map<String, Object> all = new LinkedHashMap<>();
    OwnerRecord raised = of.opened();
    if (raised != null) {
      all.put("session", raised.sessions().newest().text());
      all.put("opening", raised.sessions().opening());
      all.put("sessionBefore", text(raised.sessions().before()));
      all.put("node", raised.node());
      all.put("openedAt", raised.openedAt().toString());
      all.put("adoptedVersion", Long.toUnsignedString(raised.adoptedVersion()));
    }
    all.put("deadLetters", of.deadLetters());
    all.put("tombstones", of.tombstones());
    all.put("discards", of.discards());
    return all;
  }

  private static Map<String, Object> redis(RedisOwner of) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("session", text(of.ownedBy()));
    all.put("closed", of.closing() || of.expiresMillis() >= 0);
    all.put("healing", of.healing());
    ClaimRecord claim = of.claim();
    if (claim != null) {
      all.put("claimHeld", claim.isHeld());
      all.put("writer", claim.writer());
      all.put("attempts", claim.attempts());
      all.put("lapses", claim.lapses());
      all.put("refusedSince", RecordView.moment(claim.refusedSinceMillis()));
    }
    if (of.leaseEndsMillis() != RedisOwner.NONE) {
      all.put("leaseLeftMillis", of.leaseEndsMillis() - of.nowMillis());
    }
    all.put("claimed", of.claimed());
    all.put("sessions", of.sessions().stream().map(s -> session(s, of.nowMillis())).toList());
    all.put("foreignKeys", of.foreign());
    if (!of.inboxes().isEmpty()) {
      Map<String, Object> sent = new LinkedHashMap<>();
      of.inboxes().forEach((inbox, its) -> sent.put(inbox.sender(), redis(its)));
      all.put("sentByProcess", sent);
    }
    return all;
  }

  private static Map<String, Object> session(SessionRows of, long nowMillis) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("session", of.session().text());
    all.put("dirty", of.dirty());
    all.put("ready", of.ready());
    all.put("stale", of.stale());
    if (of.dueMillis() != RedisOwner.NONE) {
      all.put("dueInMillis", of.dueMillis() - nowMillis);
    }
    return all;
  }

  private static @Nullable String text(@Nullable Object of) {
    return of == null ? null : Objects.toString(of);
  }
}
