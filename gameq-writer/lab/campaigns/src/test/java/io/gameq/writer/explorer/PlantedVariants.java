package io.gameq.writer.explorer;

import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.owner.SessionId;
import io.gameq.writer.campaign.CampaignLength;
import io.gameq.writer.explorer.Exploration.Task;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every rule, taken out, with the cast in which that shows. */
final class PlantedVariants {
  private PlantedVariants() {}

  private static final String OPEN = " open.lua";
  private static final String REASSERT = " reassert.lua";
  private static final String COMMIT = " commit.lua";
  private static final String CLAIM = " claim.lua";
  private static final String ACK = " ack.lua";
  private static final String REAP = " reap.lua";
  private static final String REFUSE_OLDER =
      "if owned_by and owned_by > session then return {0, owned_by} end";
  private static final String UPSERT = "INSERT INTO `item`";
  private static final String TOMBSTONES = "FROM gameq_tombstone WHERE table_name = ?";
  private static final String RAISE = "INSERT INTO gameq_owner";
  private static final String LOOK = "SELECT gq_version, `player_id`, `id` FROM `item`";
  private static final String HANDOVERS = "FROM gameq_handover WHERE table_name = ?";
  private static final String LOCK_OWNERS = "ORDER BY owner FOR UPDATE";

  private static final String BEGIN_TERM = "INSERT IGNORE INTO gameq_redis_term";

  /** Casts in which a search takes minutes. */
  private static final Set<String> LARGE =
      Set.of("Redis restart", "failover", "failovers", "failover, mid-open", "failover, sent");

  /**
   * If short, a third of those whose casts are small, by lot: {@code -Dgameq.seed} draws it again.
   */
  static List<Task> all() {
    String only = System.getProperty("gameq.explorer.rule", "");
    Stream<List<Task>> tasks =
        CampaignLength.isShort()
            ? Stream.of(drawn(Stream.of(afterAFailover(), withoutOne(), SentPlants.all())))
            : Stream.of(
                afterAFailover(),
                ofTwoPrimaries(),
                withoutOne(),
                SentPlants.all(),
                ofForgottenTrades());
    return tasks.flatMap(List::stream).filter(task -> task.plant().rule().contains(only)).toList();
  }

  private static List<Task> drawn(Stream<List<Task>> tasks) {
    long seed = Long.getLong("gameq.seed", new Random().nextInt(1, 100_000));
    System.out.println("planted variants drawn with -Dgameq.seed=" + seed);
    List<Task> all =
        new ArrayList<>(
            tasks
                .flatMap(List::stream)
                .filter(task -> !LARGE.contains(task.scenario().name()))
                .toList());
    Collections.shuffle(all, new Random(seed));
    return all.subList(0, all.size() / 3);
  }

  private static List<Task> withoutOne() {
    return List.of(
        new Task(versionGuard(), Scenarios.handOver(1)),
        new Task(
            Plant.without("flush fence")
                .flushSql(LOCK_OWNERS, PlantedVariants::answerWhatIsHopedFor),
            Scenarios.restart(1, 1)),
        new Task(
            Plant.without("durable epoch").with(Switch.EPOCH_AFTER_REDIS), Scenarios.restart(1, 1)),
        new Task(
            Plant.without("new epoch per attempt").with(Switch.SAME_EPOCH),
            Scenarios.restart(1, 1)),
        new Task(
            Plant.without("open ends with its connection, and puts back what was given up")
                .with(Switch.OPEN_OUTLIVES_ITS_CONNECTION)
                .with(Switch.GIVEN_UP_IS_FORGOTTEN),
            Scenarios.restart(1, 1)),
        new Task(
            Plant.without("MySQL asked when healing").with(Switch.HEALS_WITHOUT_MYSQL),
            Scenarios.restart(1, 0)),
        new Task(
            Plant.without("claim token").lua(ACK, "claim.token == token", "true"),
            Scenarios.handOver(1)),
        new Task(mergeOnReap(), Scenarios.handOver(1)),
        new Task(
            Plant.without("adopting rows at open")
                .lua(OPEN, "merge(dirty_key(slot, owner, owned_by), dirty)", ""),
            Scenarios.handOver(1)),
        new Task(
            Plant.without("refusal of an older session: open.lua").lua(OPEN, REFUSE_OLDER, ""),
            Scenarios.rivals()),
        new Task(
            Plant.without("refusal of an older session: reassert.lua")
                .lua(REASSERT, REFUSE_OLDER, ""),
            Scenarios.lostReply(1, 1)),
        new Task(
            Plant.without("refusal of an older session: commit.lua")
                .lua(COMMIT, "if owned_by and owned_by > session then", "if false then")
                .lua(COMMIT, "if owned_by ~= session then", "if not owned_by then"),
            Scenarios.lostReply(1, 1)),
        new Task(
            Plant.without("refusal of an older session: claim.lua")
                .lua(CLAIM, "if session < owned_by then", "if false then"),
            Scenarios.handOver(1)),
        new Task(
            Plant.without("refusal of an older session: MULTI").with(Switch.OWN_NOT_CHECKED),
            Scenarios.handOver(1)),
        new Task(
            Plant.without("read order, in open").with(Switch.MYSQL_READ_FIRST),
            Scenarios.handOver(1)),
        new Task(
            Plant.without("read order, in read").with(Switch.MYSQL_READ_FIRST),
            Scenarios.readers(2)),
        new Task(
            Plant.without("tombstones")
                .sql(
                    TOMBSTONES,
                    sql -> sql.replace("WHERE table_name", "WHERE FALSE AND table_name")),
            Scenarios.deletes(1)),
        new Task(
            Plant.without("tombstones by primary key")
                .flushSql(TOMBSTONES, PlantedVariants::byOwner),
            Scenarios.moveAndDelete()),
        new Task(
            Plant.without("version column assigned last")
                .sql(
                    UPSERT,
                    sql ->
                        sql.replaceFirst(
                            "KEY UPDATE (.*), (`gq_version` = .*)$", "KEY UPDATE $2, $1")),
            Scenarios.handOver(1)),
        new Task(
            Plant.without("owners locked first, FOR UPDATE")
                .sql(LOCK_OWNERS, sql -> sql.replace(" FOR UPDATE", ""))
                .with(Switch.OWNERS_NOT_LOCKED),
            Scenarios.restart(1, 1)),
        new Task(
            Plant.without("owners locked, and tombstones read with a lock")
                .sql(LOCK_OWNERS, sql -> sql.replace(" FOR UPDATE", ""))
                .sql(TOMBSTONES, sql -> sql.replace(" LOCK IN SHARE MODE", ""))
                .with(Switch.OWNERS_NOT_LOCKED),
            Scenarios.deletes(1)),
        new Task(
            Plant.without("spanning commit checked before it writes")
                .with(Switch.SPANNING_AS_MULTIS),
            Scenarios.move(1, 1, 1, 0)),
        new Task(
            Plant.without("a put leaves another owner's row alone")
                .sql(
                    UPSERT,
                    sql ->
                        sql.replaceFirst(
                            "IF\\(`item`.`player_id` = [^,]*, ([^,]*), NULL\\)", "$1")),
            Scenarios.foreign(false)),
        new Task(
            Plant.without("a delete leaves another owner's row alone")
                .flushSql(LOOK, PlantedVariants::asIfItsOwn),
            Scenarios.foreign(true)),
        new Task(
            Plant.without("the receiving half says where the row came from")
                .with(Switch.RECEIVED_TELLS_NOTHING),
            Scenarios.move(1, 1, 1, 0)),
        new Task(
            Plant.without("a session tells of handovers that wait")
                .sql(
                    HANDOVERS,
                    sql -> sql.replace("WHERE table_name", "WHERE FALSE AND table_name")),
            Scenarios.moveAndOpenBoth(1, 0)),
        new Task(
            Plant.without("move as a new image").with(Switch.MOVE_AS_DELETE_AND_INSERT),
            Scenarios.move(2, 1, 1, 0)),
        new Task(
            Plant.without("first version above all seen at open").with(Switch.CLOCK_NOT_MOVED_ON),
            Scenarios.clockAhead(1)),
        new Task(
            Plant.without("an open counts alone only once Redis knows of it")
                .sql(RAISE, PlantedVariants::openAtOnce),
            Scenarios.midOpen(1, 2)),
        new Task(
            Plant.without("the last open session is kept at a second attempt")
                .sql(RAISE, PlantedVariants::forgetsAtASecondAttempt),
            Scenarios.midOpen(1, 2)),
        new Task(
            Plant.without("the session before is flushed while another one opens")
                .flushSql(LOCK_OWNERS, PlantedVariants::onlyTheNewest),
            Scenarios.midOpen(1, 2)),
        new Task(
            Plant.without("a writer finishes a dead node's open").with(Switch.OPENS_NOT_FINISHED),
            Scenarios.midOpen(1, 2)));
  }

  /** The rules of healing. */
  private static List<Task> afterAFailover() {
    return List.of(
        new Task(
            Plant.without("adopted rows are put back").with(Switch.ADOPTED_NOT_PUT_BACK),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("refusal of an older session: reassert.lua, after a failover")
                .lua(REASSERT, REFUSE_OLDER, ""),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("a lost session reports").with(Switch.LOST_NOT_REPORTED),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("a session opened while its node healed is healed")
                .with(Switch.OPENED_WHILE_HEALING_IS_LEFT),
            Scenarios.failover(1, 3)),
        new Task(
            Plant.without("the same, and forgotten sessions are told nothing")
                .with(Switch.OPENED_WHILE_HEALING_IS_LEFT)
                .lua(ACK, "owned_by and owned_by >= claim.session", "true"),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("unanswered commits are sent again")
                .with(Switch.UNANSWERED_COUNT_AS_DONE),
            Scenarios.failovers(2, 2)),
        new Task(
            Plant.without("replay in WAL order").with(Switch.REPLAY_NEWEST_FIRST),
            Scenarios.failovers(2, 2)),
        new Task(
            Plant.without("replay in WAL order, and what is owed stays owed")
                .with(Switch.REPLAY_NEWEST_FIRST)
                .with(Switch.MARKS_TRUSTED_ALWAYS),
            Scenarios.failovers(2, 2)),
        new Task(
            Plant.without("an open counts alone only once Redis knows of it, after a failover")
                .sql(RAISE, PlantedVariants::openAtOnce),
            Scenarios.failoverInMidOpen(2)),
        new Task(
            Plant.without("the session before is healed while another one opens")
                .with(Switch.ONLY_THE_NEWEST_HEALS),
            Scenarios.failoverInMidOpen(2)),
        new Task(
            Plant.without("an open counts alone before it reads").with(Switch.FENCED_AFTER_READING),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("an open looks whether Redis still has it")
                .with(Switch.OPEN_NOT_CONFIRMED),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("writers agree on sessions").with(Switch.OPENS_NOT_FINISHED),
            Scenarios.failoverInMidOpen(2)),
        new Task(
            Plant.without("tombstones, after a failover")
                .sql(
                    TOMBSTONES,
                    sql -> sql.replace("WHERE table_name", "WHERE FALSE AND table_name")),
            Scenarios.failoverAndDelete(3)),
        new Task(
            Plant.without("reports ask who may hold the row").with(Switch.REPORTED_WITHOUT_ASKING),
            Scenarios.failoverAndLook(0, 2)),
        new Task(
            Plant.without("a session that is told again is not whole yet")
                .lua(REASSERT, "redis.call('SADD', slot .. ':healing', owner)", ""),
            Scenarios.failoverAndLook(0, 2)));
  }

  /** The rules of the term. */
  private static List<Task> ofTwoPrimaries() {
    return List.of(
        new Task(
            Plant.without("a flush compares the term").with(Switch.FLUSH_COMPARES_NO_TERM),
            Scenarios.twoPrimaries()),
        new Task(
            Plant.without("setting a session open compares the term")
                .with(Switch.OPEN_COMPARES_NO_TERM),
            Scenarios.twoPrimaries()),
        new Task(
            Plant.without("setting a session open holds the term").with(Switch.OPEN_HOLDS_NO_TERM),
            Scenarios.twoPrimaries()),
        new Task(
            Plant.without("the term is moved on by compare and set")
                .sql(BEGIN_TERM, sql -> sql.replace("INSERT IGNORE", "REPLACE")),
            Scenarios.firstTerm()));
  }

  /**
   * Rules that another one covers in every cast here: a lost session's replay is refused by
   * commit.lua, and would only fill a hash that nobody adopts any more; the notice of a flush that
   * a forgotten session had cannot come before its node healed; no replay moves the marks; a writer
   * asks for opens only of owners whose claims were refused, and there the session before owns no
   * more; Redis forgets a session here only with its connections, which heal it first. An open that
   * a writer finishes is not open in MySQL, and nothing is reported for certain then. An open that
   * goes on over a new connection puts back what the one before it had adopted; an open that
   * forgets that ends with its connection.
   */
  static List<Task> covered() {
    return List.of(
        SentPlants.covered(),
        new Task(
            Plant.without("open ends with its connection")
                .with(Switch.OPEN_OUTLIVES_ITS_CONNECTION),
            Scenarios.restart(1, 1)),
        new Task(
            Plant.without("what was given up is put back").with(Switch.GIVEN_UP_IS_FORGOTTEN),
            Scenarios.restart(1, 1)),
        new Task(
            Plant.without("a finished open is not whole")
                .lua(OPEN, "redis.call('SADD', slot .. ':healing', owner)", ""),
            Scenarios.failoverAndLook(0, 2)),
        new Task(
            Plant.without("no open is finished while the session before it owns")
                .with(Switch.OPENS_FINISHED_ALWAYS),
            Scenarios.failoverInMidOpen(2)),
        new Task(
            Plant.without("a replay compares versions")
                .lua(COMMIT, "if is_newer(", "if true or is_newer("),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("a lost session replays nothing").with(Switch.LOST_SESSIONS_REPLAY),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("a lost session replays nothing, and commit.lua refuses it")
                .with(Switch.LOST_SESSIONS_REPLAY)
                .lua(COMMIT, "if owned_by and owned_by > session then", "if false then")
                .lua(COMMIT, "if owned_by ~= session then", "if not owned_by then"),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("refusal of a forgotten session: commit.lua")
                .lua(COMMIT, "if owned_by ~= session then", "if false then"),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("forgotten sessions are told nothing")
                .lua(ACK, "owned_by and owned_by >= claim.session", "true"),
            Scenarios.failover(1, 2)),
        new Task(
            Plant.without("what is owed stays owed").with(Switch.MARKS_TRUSTED_ALWAYS),
            Scenarios.failovers(2, 2)));
  }

  /** Their casts are large: with {@code -Dgameq.explorer=full}. */
  private static List<Task> ofForgottenTrades() {
    return List.of(
        new Task(
            Plant.without("the giver's flush checks the session that it gave to")
                .flushSql(LOCK_OWNERS, PlantedVariants::othersAsNamed),
            Scenarios.failoverAndMove(2, false, 1)),
        new Task(
            Plant.without("the taker's flush checks the session that it received from")
                .flushSql(LOCK_OWNERS, PlantedVariants::othersAsNamed),
            Scenarios.failoverAndMove(1, false, 1)),
        new Task(
            Plant.without("both halves in one version").with(Switch.HALVES_OF_TWO_VERSIONS),
            Scenarios.failoverAndMove(2, false, 1)));
  }

  private static String openAtOnce(String sql) {
    return sql.replace("'opening', UTC", "'open', UTC")
        .replace("state = 'opening', opened_at", "state = 'open', opened_at")
        .replaceAll("IF\\(state = 'opening', before_\\w+, \\w+\\)", "NULL");
  }

  private static String forgetsAtASecondAttempt(String sql) {
    return sql.replaceAll("IF\\(state = 'opening', before_\\w+, (\\w+)\\)", "$1");
  }

  private static String onlyTheNewest(String sql, List<OwnerRows> rows) {
    return sql.replace("before_epoch, before_nonce", "NULL, NULL");
  }

  private static Plant versionGuard() {
    String newer = "(VALUES\\(`gq_version`\\)|gq_new.`gq_version`) > `item`.`gq_version`";
    return Plant.without("version guard").sql(UPSERT, sql -> sql.replaceAll(newer, "TRUE"));
  }

  private static Plant mergeOnReap() {
    String claimed = "claimed_key(slot, owner)";
    String dirty = "dirty_key(slot, owner, claim.session)";
    return Plant.without("merge on reap")
        .lua(
            REAP,
            "merge(%s, %s)".formatted(claimed, dirty),
            ("if redis.call('EXISTS', %2$s) == 1 then redis.call('DEL', %1$s) else"
                    + " redis.call('RENAME', %1$s, %2$s) end")
                .formatted(claimed, dirty));
  }

  /** The owners are locked, but whatever session they have, the one of the claim is named. */
  private static String answerWhatIsHopedFor(String sql, List<OwnerRows> rows) {
    return sql.replace(
        "SELECT owner, epoch, nonce",
        "SELECT owner, "
            + choose(rows, of -> Long.toString(of.session().epoch()))
            + " AS epoch, "
            + choose(rows, of -> "'" + of.session().nonce() + "'")
            + " AS nonce");
  }

  private static String choose(List<OwnerRows> rows, Function<OwnerRows, String> value) {
    return rows.stream()
        .map(of -> "WHEN '" + of.owner().encoded() + "' THEN " + value.apply(of))
        .collect(Collectors.joining(" ", "CASE owner ", " END"));
  }

  /** Whatever session the other owner of a handover has, the one that took part is named. */
  private static String othersAsNamed(String sql, List<OwnerRows> rows) {
    Map<String, SessionId> named = new TreeMap<>();
    rows.stream()
        .flatMap(of -> of.rows().stream())
        .flatMap(row -> row.image().handovers().stream())
        .forEach(one -> named.put(one.other().encoded(), one.session()));
    if (named.isEmpty()) {
      return sql;
    }
    return sql.replace(
        "SELECT owner, epoch, nonce",
        "SELECT owner, "
            + orElse(named, session -> Long.toString(session.epoch()), "epoch")
            + ", "
            + orElse(named, session -> "'" + session.nonce() + "'", "nonce"));
  }

  private static String orElse(
      Map<String, SessionId> named, Function<SessionId, String> value, String column) {
    return named.entrySet().stream()
        .map(of -> "WHEN '" + of.getKey() + "' THEN " + value.apply(of.getValue()))
        .collect(Collectors.joining(" ", "CASE owner ", " ELSE " + column + " END AS " + column));
  }

  /** Whoever has the row, the flush's own owner is named. */
  private static String asIfItsOwn(String sql, List<OwnerRows> rows) {
    return sql.replace(
        "SELECT gq_version, `player_id`", "SELECT gq_version, " + rows.get(0).owner().key());
  }

  /** Looks only for tombstones that the flush's own owner wrote. */
  private static String byOwner(String sql, List<OwnerRows> rows) {
    return sql.replace(
        "WHERE table_name", "WHERE owner = '" + rows.get(0).owner().encoded() + "' AND table_name");
  }
}
