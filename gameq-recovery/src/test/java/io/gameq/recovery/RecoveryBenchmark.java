package io.gameq.recovery;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.WalLimits;
import io.gameq.healing.WalFolder;
import io.gameq.healing.WalFolder.Count;
import io.gameq.healing.WalFolder.WalSet;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.wal.WalWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How fast the tool is, in a JVM of its own with a heap of 512 MB: run by hand, {@code
 * RecoveryBenchmark <directory> <rows> <commits> <command>...}, with the JVM flags of the tests.
 * Rows belong to owners with 100 each; every commit changes one, in turn. Each command is a command
 * line of the tool, such as {@code "replay --execute --rate 0"}; before each, Redis loses
 * everything, unless it begins with '+'. A negative number of commits is written into a WAL without
 * a node.
 */
final class RecoveryBenchmark {
  private static final int ROWS_PER_OWNER = 100;
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Pattern HEAP = Pattern.compile("(\\d+)M->\\d+M");

  private RecoveryBenchmark() {}

  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[0]);
    int rows = Integer.parseInt(args[1]);
    long commits = Long.parseLong(args[2]);
    try (RecoveryGame game = new RecoveryGame(directory)) {
      if (commits < 0) {
        write(game, rows, -commits);
      } else {
        try (GameQueue queue = game.node("n1")) {
          play(queue, rows, commits);
        }
      }
      reading(game);
      for (String command : List.of(args).subList(3, args.length)) {
        if (!command.startsWith("+")) {
          game.loseRedis();
        }
        run(directory, game, command.replaceFirst("^\\+", ""));
      }
    }
    System.exit(0);
  }

  private static void play(GameQueue queue, int rows, long commits) throws InterruptedException {
    long begun = System.nanoTime();
    List<OwnerSession> players = new ArrayList<>();
    for (int p = 0; p < rows / ROWS_PER_OWNER; p++) {
      players.add(queue.open("player:" + p));
    }
    CommitReceipt last = null;
    for (long i = 0; i < commits; i++) {
      int row = (int) (i % rows);
      int p = row / ROWS_PER_OWNER;
      OwnerSession player = players.get(p);
      player.put(new Item(p, row % ROWS_PER_OWNER, 1_000, (int) (i / rows)));
      last = player.commit();
    }
    if (last != null) {
      last.awaitQueued(LONG);
    }
    say("%,d commits of %,d rows made in %.1f s", commits, rows, since(begun));
  }

  private static void write(RecoveryGame game, int rows, long commits) {
    game.node("n0").close(); // fixes namespace and slots
    long begun = System.nanoTime();
    try (RecoveryDatabase database =
            RecoveryDatabase.open(game.database.as(Role.RECOVERY).config(1));
        WalWriter wal =
            WalWriter.create(
                new WalWriter.Start(
                    game.wal,
                    game.namespace,
                    RecoveryGame.SLOTS,
                    "0db",
                    "n1",
                    "0badcafe",
                    1_790_000_000_000L),
                WalLimits.DEFAULT,
                List.of())) {
      Table table = database.rows().catalog().table("item");
      RowCodec codec = new RowCodec(database.rows().layouts(), Clock.systemUTC());
      for (long i = 0; i < commits; i++) {
        int row = (int) (i % rows);
        long player = row / ROWS_PER_OWNER;
        byte[] image =
            codec.encode(
                table,
                RowOp.PUT,
                new Object[] {player, (long) (row % ROWS_PER_OWNER), 1_000L, i / rows});
        RowHeader.setVersion(image, (1_790_000_000_000L << 16) + i);
        OwnerId owner = OwnerId.of("player:" + player);
        SessionRef session =
            new SessionRef(
                owner, new SessionId(1, "0badcafe00000001"), owner.slot(RecoveryGame.SLOTS));
        ChangedRow changed = new ChangedRow("item:" + player + "," + row % ROWS_PER_OWNER, image);
        wal.append(new Written(List.of(new CommitPart(session, List.of(changed)))));
      }
    }
    say("%,d commits of %,d rows written in %.1f s", commits, rows, since(begun));
  }

  /** A commit that nobody waits for. */
  private static final class Written extends Commit {
    Written(List<CommitPart> parts) {
      super(parts);
    }

    @Override
    public void queued() {}

    @Override
    public void failed(RuntimeException reason) {}
  }

  private static void reading(RecoveryGame game) {
    WalSet wals = WalSet.open(List.of(game.wal));
    for (int i = 0; i < 2; i++) {
      long begun = System.nanoTime();
      wals.read((entry, wal) -> {});
      double seconds = since(begun);
      WalFolder folder = wals.folders().get(0);
      say(
          "%,d records read in %.1f s: %,.0f row changes/s",
          folder.count(Count.RECORDS), seconds, folder.count(Count.CHANGES) / seconds);
    }
  }

  private static void run(Path directory, RecoveryGame game, String command) throws Exception {
    List<String> args = new ArrayList<>(List.of(command.split(" ")));
    args.addAll(game.servers());
    args.add(game.wal.toString());
    Path output = directory.resolve("out.txt");
    Path gc = directory.resolve("gc.txt");
    long begun = System.nanoTime();
    int exitCode;
    Duration cpu;
    try (ToolProcess tool =
        ToolProcess.start(
            output,
            game.database.as(Role.RECOVERY).password(),
            List.of("-Xmx512m", "-Xlog:gc:file=" + gc),
            args)) {
      exitCode = tool.await(3_600);
      cpu = tool.cpu();
    }
    say(
        "%s: %.1f s with the JVM's start, %.1f s of processor time, exit code %d, most heap in use"
            + " %d MB of 512",
        command, since(begun), cpu.toMillis() / 1e3, exitCode, mostHeap(gc));
    System.out.println(Files.readString(output));
  }

  private static int mostHeap(Path gc) throws IOException {
    int most = 0;
    for (Matcher found = HEAP.matcher(Files.readString(gc)); found.find(); ) {
      most = Math.max(most, Integer.parseInt(found.group(1)));
    }
    return most;
  }

  private static double since(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }

  private static void say(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
