package io.gameq.writer.schema;

import io.gameq.mysql.schema.TableFix;
import java.io.PrintWriter;
import java.util.List;

/**
 * Prints what mends tables as one SQL script: words are comments, statements end in a semicolon at
 * the end of a line. Used by one thread.
 */
final class FixScript {
  private final PrintWriter out;

  FixScript(PrintWriter out) {
    this.out = out;
  }

  /** What stands against the server itself, which no statement about a table mends. */
  void server(List<String> refusals) {
    refusals.forEach(refusal -> comment("server: " + refusal));
  }

  /** All of it, in the order in which it has to run. */
  void print(List<TableFix> fixes) {
    List<TableFix> ready = fixes.stream().filter(TableFix::isReady).toList();
    if (ready.isEmpty()) {
      comment("nothing that a statement mends");
    } else {
      comment("Look through it, try it on a copy, keep it until its last statement has run. It");
      comment("deletes no row and drops no column. Once gq_version is there, statements of other");
      comment("programs that name no columns (INSERT INTO t VALUES ...) fail.");
      out.println();
      comment("a value that does not fit is an error, not cut");
      statement("SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES')");
    }
    section(
        "foreign keys that are in the way; they are made again at the end, so nobody may write"
            + " these tables until then",
        ready.stream().flatMap(fix -> fix.statements().before().stream()).toList());
    ready.stream().filter(fix -> !fix.statements().alter().isEmpty()).forEach(this::table);
    section(
        "the foreign keys again",
        ready.stream().flatMap(fix -> fix.statements().after().stream()).toList());
    fixes.stream().filter(fix -> !fix.inTheWay().isEmpty()).forEach(this::proposal);
    fixes.forEach(this::unmended);
    advice(fixes);
    out.println();
    comment("then: gameq-writer schema migrate");
  }

  private void section(String heading, List<String> statements) {
    if (!statements.isEmpty()) {
      out.println();
      comment(heading);
      statements.forEach(this::statement);
    }
  }

  private void table(TableFix fix) {
    out.println();
    comment("table " + fix.table().name());
    words(fix);
    fix.statements().alter().forEach(this::statement);
  }

  private void words(TableFix fix) {
    fix.mended().forEach(reason -> comment("  mends: " + reason));
    fix.notes().forEach(note -> comment("  note: " + note));
  }

  /** As comments, since somebody has to decide first. */
  private void proposal(TableFix fix) {
    out.println();
    comment(
        ("table %s: a proposal. Rows are in the way: give them a value or delete them, as"
                    + " the game")
                .formatted(fix.table().name())
            + " means it, then print this anew. They are found by");
    fix.inTheWay().forEach(query -> comment("    " + query + ";"));
    words(fix);
    fix.statements().needed().forEach(sql -> comment("  " + sql + ";"));
  }

  private void unmended(TableFix fix) {
    if (!fix.unmended().isEmpty()) {
      out.println();
      comment("table %s: no statement mends this".formatted(fix.table().name()));
      fix.unmended().forEach(reason -> comment("  " + reason));
    }
  }

  private void advice(List<TableFix> fixes) {
    List<String> advised =
        fixes.stream().flatMap(fix -> fix.statements().advised().stream()).toList();
    if (!advised.isEmpty()) {
      out.println();
      comment(
          "Not needed, but better: an index that begins with the owner column, so that opening");
      comment("an owner reads its rows alone; RESTRICT, so that MySQL changes no rows that gameq");
      comment("may still write (from then on a DELETE is refused until the game has deleted what");
      comment("refers to the row).");
      advised.forEach(sql -> comment("  " + sql + ";"));
    }
  }

  private void statement(String sql) {
    out.println(sql + ";");
  }

  /** A name may hold a line break, which would end the comment. */
  private void comment(String text) {
    out.println("-- " + text.replaceAll("\\R", " "));
  }
}
