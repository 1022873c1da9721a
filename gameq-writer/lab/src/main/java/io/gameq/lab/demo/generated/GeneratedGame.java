package io.gameq.lab.demo.generated;

import io.gameq.GameQueueException;
import io.gameq.lab.demo.game.DemoActor;
import io.gameq.lab.demo.game.DemoGame;
import io.gameq.lab.mysql.SchemaFacts;
import io.gameq.lab.mysql.SchemaFacts.ForeignKey;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.writer.mysql.TableFix;
import io.gameq.writer.mysql.TableInspection;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft.Proposal;
import java.io.PrintWriter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A game over the tables of a schema file that have an owner. Thread-safe. */
public final class GeneratedGame implements DemoGame {
  /** Numbers for keys begin this far above the largest owner that was there. */
  private static final long ABOVE = 1_000;

  private static final Set<Class<?>> NUMBERS = Set.of(Long.class, BigInteger.class);

  private final List<OwnerFamily> families;
  private final long seed;
  private final long firstId;
  private final Set<String> referredTo;

  private GeneratedGame(
      List<OwnerFamily> families, long seed, long firstId, Set<String> referredTo) {
    this.families = families;
    this.seed = seed;
    this.firstId = firstId;
    this.referredTo = referredTo;
  }

  /**
   * What a game is made from.
   *
   * @param ownerColumns the only ones to choose from; empty: those that are proposed
   * @param fix whether tables are changed so that they can be managed
   */
  public record Plan(
      String namespace,
      int slots,
      List<String> ownerColumns,
      boolean fix,
      long seed,
      PrintWriter out) {
    public Plan {
      ownerColumns = List.copyOf(ownerColumns);
    }
  }

  /**
   * Chooses the tables of a database that was just filled, has them managed, and says which.
   *
   * @throws GameQueueException when nothing can be managed
   */
  public static GeneratedGame over(ScratchDatabase database, Plan plan) {
    SchemaDraft draft = database.draft(plan.ownerColumns());
    List<TableSpec> proposed = draft.proposals().stream().map(Proposal::table).toList();
    TableFix.Script fixes = database.fixes(proposed);
    if (plan.fix()) {
      fix(database, fixes, plan.out());
    }
    SchemaFacts schema = database.facts();
    Map<String, String> left = new TreeMap<>();
    List<TableSpec> chosen = new ArrayList<>();
    for (TableInspection table : database.inspect(proposed)) {
      if (!table.manageable()) {
        left.put(
            table.spec().name(),
            String.join("; ", table.reasons()) + remedy(table.spec(), fixes, plan.fix()));
      } else if (!table.otherWriters().isEmpty()) {
        left.put(
            table.spec().name(),
            String.join(", ", table.otherWriters())
                + ": writes it past gameq, which the demo"
                + " would take for a row that it lost: let the game do that (--fix leaves it out)");
      } else {
        chosen.add(table.spec());
      }
    }
    chosen.removeIf(spec -> isOfOwnersThatAreLeft(spec, draft, left));
    Catalog catalog = database.migrate(plan.namespace(), plan.slots(), chosen);
    AtomicLong numbers = new AtomicLong(ABOVE);
    ParentRows parents = new ParentRows(database, schema, new Random(plan.seed()));
    List<OwnerFamily> families = new ArrayList<>();
    for (SchemaDraft.OwnerColumn owner : draft.owners()) {
      OwnerFamily family = family(owner, schema, catalog, numbers, parents, left);
      if (family != null) {
        families.add(family);
      }
    }
    List<RowGenerator> generators = generators(families);
    report(plan.out(), schema, families, left, draft);
    if (families.isEmpty()) {
      throw new GameQueueException(
          "no table can be played over: name the columns that hold owners with --owner-column, or"
              + " see what stands against the tables above");
    }
    long firstId = firstId(database, generators);
    numbers.set(Math.max(numbers.get(), firstId + ABOVE));
    if (!parents.filled().isEmpty()) {
      plan.out().println("inserted rows to refer to: " + String.join(", ", parents.filled()));
    }
    return new GeneratedGame(families, plan.seed(), firstId, referredTo(schema, generators));
  }

  private static void fix(ScratchDatabase database, TableFix.Script fixes, PrintWriter out) {
    List<String> refused = database.apply(fixes);
    out.println("changed in the demo's database, as 'schema check --fix-sql' proposes:");
    for (TableFix of : fixes.tables()) {
      if (!of.mended().isEmpty()) {
        out.println("  %s: %s".formatted(of.table().name(), String.join("; ", of.mended())));
        of.statements().forEach(sql -> out.println("    " + sql.replaceAll("\\s+", " ")));
      }
    }
    refused.forEach(statement -> out.println("  refused: " + statement));
  }

  private static String remedy(TableSpec table, TableFix.Script fixes, boolean isFixed) {
    for (TableFix of : fixes.tables()) {
      if (of.table().equals(table)) {
        return isFixed || of.mended().isEmpty()
            ? of.unmended().isEmpty()
                ? ""
                : " (by hand: %s)".formatted(String.join("; ", of.unmended()))
            : " (--fix mends it)";
      }
    }
    return "";
  }

  /** Without the rows that are the owners there is nothing to refer to. */
  private static boolean isOfOwnersThatAreLeft(
      TableSpec spec, SchemaDraft draft, Map<String, String> left) {
    for (SchemaDraft.OwnerColumn owner : draft.owners()) {
      String root = owner.table();
      if (root != null && owner.kind().equals(spec.ownerKind()) && left.containsKey(root)) {
        left.put(spec.name(), "table %s, which holds its owners, is left out".formatted(root));
        return true;
      }
    }
    return false;
  }

  private static @Nullable OwnerFamily family(
      SchemaDraft.OwnerColumn owner,
      SchemaFacts schema,
      Catalog catalog,
      AtomicLong numbers,
      ParentRows parents,
      Map<String, String> left) {
    RowGenerator root = null;
    List<RowGenerator> children = new ArrayList<>();
    for (Table table : catalog.ownedBy(owner.kind())) {
      try {
        RowGenerator generator =
            new RowGenerator(
                table,
                new RowGenerator.Surroundings(schema.table(table.name()), owner, numbers, parents));
        if (table.name().equals(owner.table())) {
          root = generator;
        } else {
          children.add(generator);
        }
      } catch (RowGenerator.Unfit | GameQueueException e) {
        left.put(
            table.name(), "the demo makes no rows for it, gameq can manage it: " + e.getMessage());
      }
    }
    if (children.isEmpty() || (owner.table() != null && root == null)) {
      if (root != null) {
        left.put(root.table().name(), "no table of its owners can be played over");
      }
      children.forEach(
          of ->
              left.put(
                  of.table().name(),
                  "table %s, which holds its owners, is left out".formatted(owner.table())));
      return null;
    }
    return new OwnerFamily(owner, root, children);
  }

  private static List<RowGenerator> generators(List<OwnerFamily> families) {
    List<RowGenerator> all = new ArrayList<>();
    for (OwnerFamily family : families) {
      RowGenerator root = family.root();
      if (root != null) {
        all.add(root);
      }
      all.addAll(family.children());
    }
    return all;
  }

  private static long firstId(ScratchDatabase database, List<RowGenerator> generators) {
    long largest = 0;
    for (RowGenerator of : generators) {
      for (var column : of.table().columns()) {
        if (NUMBERS.contains(column.type().valueClass())
            && (column.name().equals(of.table().ownerColumn().name())
                || of.table().keyColumns().contains(column))) {
          largest = Math.max(largest, database.largest(of.table().name(), column.name()));
        }
      }
    }
    if (largest > Integer.MAX_VALUE / 2) {
      throw new GameQueueException(
          "the largest key of a managed table is %s: no room above it".formatted(largest));
    }
    return largest + 1;
  }

  /** Managed tables whose rows rows of others may refer to: those are not deleted or moved. */
  private static Set<String> referredTo(SchemaFacts schema, List<RowGenerator> generators) {
    Set<String> names = new HashSet<>();
    for (RowGenerator of : generators) {
      for (ForeignKey key : schema.table(of.table().name()).foreignKeys().values()) {
        names.add(key.parent());
      }
    }
    return names;
  }

  private static void report(
      PrintWriter out,
      SchemaFacts schema,
      List<OwnerFamily> families,
      Map<String, String> left,
      SchemaDraft draft) {
    out.printf(Locale.ROOT, "%d tables%n", schema.tables().size());
    for (OwnerFamily of : families) {
      Set<String> columns = new TreeSet<>();
      of.children().forEach(child -> columns.add(child.table().ownerColumn().name()));
      out.printf(
          Locale.ROOT,
          "owners: %s, named by %s, the rows of %s%n",
          of.owner().kind(),
          String.join(", ", columns),
          Objects.requireNonNullElse(of.owner().table(), "no table"));
    }
    Set<String> managed =
        generators(families).stream().map(of -> of.table().name()).collect(Collectors.toSet());
    out.println("managed (" + managed.size() + "): " + names(managed));
    out.println("left out, and why (" + left.size() + "):");
    left.forEach((name, reason) -> out.println("  " + name + ": " + reason));
    Set<String> unowned =
        draft.left().stream()
            .filter(of -> of.unsure() == null)
            .map(SchemaDraft.SkippedTable::table)
            .collect(Collectors.toSet());
    out.println("without an owner column (" + unowned.size() + "): " + names(unowned));
    draft.left().stream()
        .filter(of -> of.unsure() != null)
        .forEach(of -> out.printf(Locale.ROOT, "left out %s: %s%n", of.table(), of.reason()));
    out.flush();
  }

  private static String names(Set<String> names) {
    return String.join(", ", names.stream().sorted().toList());
  }

  List<RowGenerator> generators() {
    return generators(families);
  }

  boolean isReferredTo(RowGenerator of) {
    return referredTo.contains(of.table().name());
  }

  @Override
  public List<Table> tables() {
    return generators().stream().map(RowGenerator::table).toList();
  }

  /** Players take turns among the kinds of owners. */
  @Override
  public DemoActor actor(int number) {
    OwnerFamily family = families.get(number % families.size());
    Column column = family.any().table().ownerColumn();
    long id = firstId + number;
    Object given = column.type().isText() ? "p" + id : new UUID(0, id);
    Object key =
        Objects.requireNonNull(column.canonical(column.type().isInteger() ? (Object) id : given));
    return new GeneratedPlayer(this, family, key, new Random(seed * 1_000_003 + number));
  }
}
