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

  /** All of it, in the order in which it has to run. */
  void print(List<TableFix> fixes) {
    List<TableFix> changed = fixes.stream().filter(fix -> !fix.alter().isEmpty()).toList();
    if (changed.isEmpty()) {
      comment("nothing that a statement mends");
    } else {
      comment("Look through it first. An ALTER TABLE that does more than add gq_version copies");
      comment("its table, and who writes it waits. Once a column is added, statements of other");
      comment("programs that name no columns (INSERT INTO t VALUES ...) fail.");
    }
    List<String> before = fixes.stream().flatMap(fix -> fix.before().stream()).toList();
    if (!before.isEmpty()) {
      out.println();
      comment("foreign keys that are in the way; they are made again at the end");
      before.forEach(this::statement);
    }
    changed.forEach(this::table);
    List<String> after = fixes.stream().flatMap(fix -> fix.after().stream()).toList();
    if (!after.isEmpty()) {
      out.println();
      comment("the foreign keys again");
      after.forEach(this::statement);
    }
    fixes.forEach(this::rest);
    if (!changed.isEmpty()) {
      out.println();
      comment("then: gameq-writer schema migrate");
    }
  }

  private void table(TableFix fix) {
    out.println();
    comment("table " + fix.table().name());
    fix.mended().forEach(reason -> comment("  mends: " + reason));
    fix.cautions().forEach(caution -> comment("  note: " + caution));
    fix.alter().forEach(this::statement);
  }

  private void rest(TableFix fix) {
    if (!fix.unmended().isEmpty()) {
      out.println();
      comment("table %s: no statement mends this".formatted(fix.table().name()));
      fix.unmended().forEach(reason -> comment("  " + reason));
    }
    if (!fix.advised().isEmpty()) {
      out.println();
      comment("table %s: not needed, but better".formatted(fix.table().name()));
      fix.advised().forEach(sql -> comment(sql + ";"));
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
