package io.gameq.lab.demo.generated;

import io.gameq.GameQueueException;
import io.gameq.lab.demo.game.DemoActor;
import io.gameq.lab.demo.game.DemoGame;
import io.gameq.lab.mysql.SchemaFacts;
import io.gameq.lab.mysql.SchemaFacts.ForeignKey;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.mysql.schema.TableInspection;
import io.gameq.mysql.schema.TableSpec;
import io.gameq.rows.Catalog;
import io.gameq.rows.Table;
import io.gameq.rows.types.ColumnType;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A game over the tables of a schema file that have an owner. Thread-safe. */
public final class GeneratedGame implements DemoGame {
  /** Numbers for keys begin this far above the largest owner that was there. */
  private static final long ABOVE = 1_000;

  private final OwnerReference owner;
  private final long seed;
  private final long firstId;
  private final List<RowGenerator> generators;
  private final List<RowGenerator> children;
  private final @Nullable RowGenerator root;
  private final Set<String> referredTo;

  private GeneratedGame(
      OwnerReference owner,
      long seed,
      long firstId,
      List<RowGenerator> generators,
      Set<String> referredTo) {
    this.owner = owner;
    this.seed = seed;
    this.firstId = firstId;
    this.generators = generators;
    this.referredTo = referredTo;
    this.root =
        generators.stream()
            .filter(of -> of.table().name().equals(owner.root()))
            .findFirst()
            .orElse(null);
    this.children = generators.stream().filter(of -> of != root).toList();
  }

  /**
   * What a game is made from.
   *
   * @param ownerColumn null: the one that most tables have
   */
  public record Plan(
      String namespace, int slots, @Nullable String ownerColumn, long seed, PrintWriter out) {}

  /**
   * Chooses the tables of a database that was just filled, has them managed, and says which.
   *
   * @throws GameQueueException when nothing can be managed
   */
  public static GeneratedGame over(ScratchDatabase database, Plan plan) {
    SchemaFacts schema = database.facts();
    OwnerReference owner = OwnerReference.of(schema, plan.ownerColumn());
    Map<String, String> left = new TreeMap<>();
    List<TableSpec> chosen = new ArrayList<>();
    for (TableInspection table : database.inspect(owner.candidates(schema)).tables()) {
      if (table.manageable()) {
        chosen.add(table.spec());
      } else {
        left.put(table.spec().name(), String.join("; ", table.reasons()));
      }
    }
    String rootProblem = owner.root() == null ? null : left.get(owner.root());
    if (rootProblem != null) {
      throw new GameQueueException(
          "table %s, which %s refers to, cannot be managed: %s"
              .formatted(owner.root(), owner.name(), rootProblem));
    }
    Catalog catalog = database.migrate(plan.namespace(), plan.slots(), chosen);
    Random random = new Random(plan.seed());
    ParentRows parents = new ParentRows(database, schema, random);
    AtomicLong numbers = new AtomicLong(ABOVE);
    List<RowGenerator> generators = new ArrayList<>();
    for (Table table : catalog.tables()) {
      try {
        generators.add(
            new RowGenerator(
                table,
                new RowGenerator.Surroundings(
                    schema.table(table.name()), owner, numbers, parents)));
      } catch (RowGenerator.Unfit e) {
        left.put(table.name(), "the demo makes no rows for it: " + e.getMessage());
      }
    }
    if (generators.stream().allMatch(of -> of.table().name().equals(owner.root()))) {
      throw new GameQueueException("no table with a column " + owner.name() + " can be managed");
    }
    long firstId = firstId(database, owner, generators);
    numbers.set(Math.max(numbers.get(), firstId + ABOVE));
    report(plan.out(), schema, owner, generators, left);
    if (!parents.filled().isEmpty()) {
      plan.out().println("inserted rows to refer to: " + String.join(", ", parents.filled()));
    }
    return new GeneratedGame(
        owner, plan.seed(), firstId, generators, referredTo(schema, generators));
  }

  private static long firstId(
      ScratchDatabase database, OwnerReference owner, List<RowGenerator> generators) {
    long largest = 0;
    for (RowGenerator of : generators) {
      for (var column : of.table().columns()) {
        if (column.type().kind() == ColumnType.Kind.INTEGER
            && (column.name().equals(of.table().ownerColumn().name())
                || of.table().keyColumns().contains(column))) {
          largest = Math.max(largest, database.largest(of.table().name(), column.name()));
        }
      }
    }
    if (largest > Integer.MAX_VALUE / 2) {
      throw new GameQueueException(
          "the largest key of a table with %s is %d: no room above it"
              .formatted(owner.name(), largest));
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
      OwnerReference owner,
      List<RowGenerator> generators,
      Map<String, String> left) {
    Set<String> managed = new HashSet<>();
    generators.forEach(of -> managed.add(of.table().name()));
    out.printf(
        "%d tables; owner column %s, which refers to %s%n",
        schema.tables().size(), owner.name(), Objects.requireNonNullElse(owner.root(), "no table"));
    out.println("managed (" + managed.size() + "): " + names(managed));
    out.println("cannot be managed (" + left.size() + "):");
    left.forEach((name, reason) -> out.println("  " + name + ": " + reason));
    Set<String> without = new HashSet<>(schema.tables().keySet());
    without.removeAll(managed);
    without.removeAll(left.keySet());
    out.println("without an owner column (" + without.size() + "): " + names(without));
    out.flush();
  }

  private static String names(Set<String> names) {
    return String.join(", ", names.stream().sorted().toList());
  }

  String kind() {
    return owner.kind();
  }

  List<RowGenerator> generators() {
    return generators;
  }

  @Nullable RowGenerator root() {
    return root;
  }

  RowGenerator anyChild(Random random) {
    return children.get(random.nextInt(children.size()));
  }

  boolean isReferredTo(RowGenerator of) {
    return referredTo.contains(of.table().name());
  }

  @Override
  public List<Table> tables() {
    return generators.stream().map(RowGenerator::table).toList();
  }

  @Override
  public DemoActor actor(int number) {
    RowGenerator any = root == null ? children.get(0) : root;
    long id = firstId + number;
    boolean text = any.table().ownerColumn().type().kind() == ColumnType.Kind.TEXT;
    Object key =
        Objects.requireNonNull(any.table().ownerColumn().canonical(text ? "p" + id : (Object) id));
    return new GeneratedPlayer(this, key, new Random(seed * 1_000_003 + number));
  }
}
