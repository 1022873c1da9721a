package io.gameq.writer.campaign;

import io.gameq.Conflict;
import io.gameq.GameQueue;
import io.gameq.WrongClock;
import io.gameq.config.GameQueueConfig;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.writer.campaign.messages.ErrandHandler;
import io.gameq.writer.campaign.messages.MessageNotes;
import io.gameq.writer.campaign.messages.MessagePlayer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A game node as a process of its own: plays until it is told to stop or is killed. Its main thread
 * obeys lines on standard input and ends the process with the input, so that no node outlives the
 * campaign.
 *
 * <pre>
 * halt        the next commit writes its invocation into the history and dies before anything else
 * handle      the next handler of a message writes that it began into the notes and dies
 * errand      the next handler of an owner's message stages its rows and dies
 * steal       take over every owner now
 * poison      commit a row that MySQL refuses
 * gear        commit rows that exchange what is unique, and bags, from now on
 * clock       answers "clock MS", the time of day as this process has it
 * stop        play no further; answers "stopped N", N commits without an answer
 * hold        after that: writes what sessions it has into the history; answers "held 0"
 * settle      after that: answers "settled N", N acknowledged commits neither durable nor reported
 * </pre>
 */
public final class CampaignNode {
  public static final int SLOTS = 4;
  public static final int PLAYERS = 12;

  /** Rows are sent to these: the last four are opened now and then, or never. */
  static final int RECEIVERS = PLAYERS + 4;

  private static final int THREADS = 3;

  /**
   * Under whose name handlers of messages commit rows: one for each node, of which nobody else
   * plays.
   */
  private static final int FIRST_HANDLING_OWNER = 101;

  private static final long ANSWERS_WITHIN_SECONDS = 60;

  private final List<CampaignPlayer> players = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final MessagePlayer messages;
  private final Ledger acknowledging;
  private final ErrandHandler handler;

  private CampaignNode(NodeOptions options) throws IOException {
    HistoryFile history = new HistoryFile(options.history());
    Clock clock = Clock.offset(Clock.systemUTC(), Duration.ofMillis(options.clockOffsetMillis()));
    GameQueue queue = GameQueue.open(config(options, clock, history::conflict));
    Random random = new Random(options.seed());
    String process = "%s.%d".formatted(options.name(), options.incarnation());
    MessageNotes notes = new MessageNotes(MessageNotes.beside(options.history()), process);
    messages = new MessagePlayer(queue, notes, process + ".m", random.nextLong());
    threads.add(new Thread(messages, "publisher"));
    acknowledging = ledger(options, THREADS, history);
    handler =
        new ErrandHandler(
            queue,
            notes,
            new AcknowledgingPlayer(queue, acknowledging, FIRST_HANDLING_OWNER + options.home()));
    handler.subscribe();
    if (options.home() == 0) {
      handler.subscribeOwners();
    }
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    CampaignPlayer.Game game =
        new CampaignPlayer.Game(
            queue,
            messages,
            (session, one) ->
                handler.handle(
                    session,
                    task -> executor.execute(() -> one.runAlone(task)),
                    () -> one.ended(session)));
    for (int i = 0; i < THREADS; i++) {
      CampaignPlayer player =
          new CampaignPlayer(
              game, ledger(options, i, history), ownersOf(i), options.home(), random.nextLong());
      players.add(player);
      threads.add(new Thread(player, "player-" + i));
    }
  }

  private static Ledger ledger(NodeOptions options, int number, HistoryFile history) {
    return new Ledger(
        "%s.%d.%d".formatted(options.name(), options.incarnation(), number),
        (options.home() * 1_000 + options.incarnation()) * 10 + number,
        history);
  }

  /** The configuration of somebody who commits nothing. */
  public static GameQueueConfig config(NodeOptions options, Clock clock) {
    return config(options, clock, conflict -> {});
  }

  private static GameQueueConfig config(
      NodeOptions options, Clock clock, Consumer<Conflict> onConflict) {
    return WrongClock.of(GameQueueConfig.builder(), clock)
        .redis(LeastRedisUsers.uri(options.redisUri(), Role.NODE, options.namespace()))
        .mysql(
            options.jdbcUrl(),
            CampaignMySql.login(Role.NODE).user(),
            CampaignMySql.login(Role.NODE).password())
        .namespace(options.namespace())
        .node(options.name())
        .slots(SLOTS)
        .poolSize(THREADS + 2)
        .mergeWindow(Duration.ofMillis(options.mergeWindowMillis()))
        .walDirectory(options.wal())
        .walMinFreeBytes(0) // a full disk is one of the faults
        .onConflict(onConflict)
        .build();
  }

  private static List<Long> ownersOf(int thread) {
    List<Long> owners = new ArrayList<>();
    for (long owner = 1; owner <= PLAYERS; owner++) {
      if (owner / 2 % THREADS == thread) {
        owners.add(owner);
      }
    }
    return owners;
  }

  public static void main(String[] args) throws Exception {
    CampaignNode node = new CampaignNode(NodeOptions.of(args));
    node.threads.forEach(Thread::start);
    System.out.println("ready");
    try (BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      for (String command; (command = commands.readLine()) != null; ) {
        node.obey(command);
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private void obey(String command) throws InterruptedException {
    switch (command.split(" ", 2)[0]) {
      case "halt" -> players.get(0).haltAtNextCommit();
      case "handle" -> handler.haltNext();
      case "errand" -> handler.haltNextOwned();
      case "steal" -> players.forEach(CampaignPlayer::stealAll);
      case "gear" -> players.forEach(CampaignPlayer::useGear);
      case "poison" -> players.get(0).poisonOnce();
      case "clock" -> System.out.println("clock " + System.currentTimeMillis());
      case "stop" -> System.out.println("stopped " + stop());
      case "hold" -> {
        players.forEach(CampaignPlayer::noteHeld);
        System.out.println("held 0");
      }
      case "settle" -> System.out.println("settled " + settle());
      default -> throw new IllegalArgumentException(command);
    }
  }

  private int settle() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWERS_WITHIN_SECONDS);
    int unsettled = acknowledging.awaitSettled(deadline);
    for (CampaignPlayer player : players) {
      unsettled += player.ledger().awaitSettled(deadline);
    }
    return unsettled;
  }

  private int stop() throws InterruptedException {
    messages.stop();
    players.forEach(CampaignPlayer::stop);
    for (Thread thread : threads) {
      thread.join();
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWERS_WITHIN_SECONDS);
    int open = messages.awaitAnswers(deadline);
    for (CampaignPlayer player : players) {
      open += player.ledger().awaitAnswers(deadline);
    }
    return open;
  }
}
