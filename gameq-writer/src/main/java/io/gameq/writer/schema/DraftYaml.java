package io.gameq.writer.schema;

import io.gameq.mysql.schema.SchemaDraft;
import io.gameq.mysql.schema.SchemaDraft.LeftOut;
import io.gameq.mysql.schema.SchemaDraft.Proposal;
import io.gameq.mysql.schema.TableInspection;
import io.gameq.mysql.schema.TableSpec;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Prints a gameq.yaml from what was guessed of a database. Used by one thread. */
final class DraftYaml {
  /** What YAML reads as something else than a text. */
  private static final Set<String> WORDS =
      Set.of("y", "n", "yes", "no", "on", "off", "true", "false", "null");

  private final PrintWriter out;

  /**
   * Prints to a writer, which stays open.
   *
   * @param head the settings above the tables, line by line
   */
  DraftYaml(PrintWriter out, Iterable<String> head) {
    this.out = out;
    head.forEach(out::println);
  }

  /**
   * The tables.
   *
   * @param unmended why a table cannot be managed, where no statement mends that
   */
  void print(SchemaDraft draft, Map<TableSpec, String> unmended) {
    out.println();
    out.println("# A row belongs to the owner that its ownerColumn names: a session of player:42");
    out.println("# has the rows with 42 in it. These are guesses, each with its reason: look");
    out.println("# through them. '!' stands against a table: 'schema check --fix-sql' mends it.");
    out.println("tables:" + (draft.proposals().isEmpty() ? " []" : ""));
    String kind = "";
    for (int i = 0; i < draft.proposals().size(); i++) {
      Proposal of = draft.proposals().get(i);
      if (!of.table().ownerKind().equals(kind)) {
        kind = of.table().ownerKind();
        out.println();
        out.println("  # owners: " + kind);
      }
      String problem = unmended.get(of.table());
      if (problem == null) {
        table(of, draft.inspection().tables().get(i));
      } else {
        comment("%s: cannot be managed, %s".formatted(entry(of.table()), problem));
      }
    }
    if (!draft.left().isEmpty()) {
      out.println();
      out.println("  # Left out:");
      draft.left().forEach(this::leftOut);
    }
  }

  private void table(Proposal of, TableInspection inspection) {
    out.println("  %s  # %s".formatted(entry(of.table()), plain(of.reason())));
    of.others().forEach(other -> comment("    or by " + other));
    inspection.reasons().forEach(reason -> comment("    ! " + reason));
    inspection
        .otherWriters()
        .forEach(writer -> comment("    %s writes it past gameq".formatted(writer)));
  }

  private void leftOut(LeftOut of) {
    TableSpec unsure = of.unsure();
    comment("%s: %s".formatted(unsure == null ? of.table() : entry(unsure), of.reason()));
  }

  private void comment(String text) {
    out.println("  # " + plain(text));
  }

  private static String entry(TableSpec table) {
    return "- { name: %s, owner: %s, ownerColumn: %s }"
        .formatted(text(table.name()), table.ownerKind(), text(table.ownerColumn()));
  }

  /** A text as YAML reads it. */
  static String text(String text) {
    boolean plain = text.matches("[A-Za-z_][A-Za-z0-9_./:-]*");
    return plain && !WORDS.contains(text.toLowerCase(Locale.ROOT))
        ? text
        : "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static String plain(String text) {
    return text.replaceAll("\\R", " ");
  }
}
