package io.gameq.redis.script;

import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What Redis holds of an owner's rows: {@code read.lua} all that is not flushed, {@code
 * pending.lua} whether there is any of a session, and {@code lookup.lua} some rows, of several
 * sessions, many at a time. Stateless.
 */
public final class LookupScript {
  private static final LuaScript READ = LuaScript.of(LookupScript.class, "inbox.lua", "read.lua");
  private static final LuaScript PENDING = LuaScript.of(LookupScript.class, "pending.lua");
  private static final LuaScript LOOKUP = LuaScript.of(LookupScript.class, "lookup.lua");

  /** What one HMGET may be asked for: Lua's unpack ends near 8,000. */
  private static final int MOST_FIELDS = 1_000;

  private static final Predicate<String> VERSION =
      Pattern.compile("[0-9a-fA-F]{16}").asMatchPredicate();

  private LookupScript() {}

  /**
   * Rows of one owner to look for.
   *
   * @param sessions whose dirty rows to look into, besides those of the session that owns
   */
  public record Question(OwnerId owner, List<SessionId> sessions, List<String> fields) {}

  /**
   * What Redis holds of the rows of a question.
   *
   * @param ownedBy null when Redis knows no session of the owner
   * @param fields one for each of the question's
   */
  public record Answer(@Nullable SessionId ownedBy, List<Found> fields) {}

  /**
   * What Redis holds of one row; each a row, its version, or empty.
   *
   * @param dirty one for each session of the question
   * @param owned dirty under the session that owns
   */
  public record Found(byte[] claimed, List<byte[]> dirty, byte[] owned) {}

  /**
   * Answers questions, in their order.
   *
   * @param whole whether whole rows are wanted and not only versions
   */
  public static List<Answer> ask(
      RedisConnection redis, SlotKeys[] slots, List<Question> questions, boolean whole) {
    List<LuaScript.Call> calls = new ArrayList<>();
    for (Question of : questions) {
      SlotKeys slot = slots[of.owner.slot(slots.length)];
      for (List<String> fields : LuaScript.pieces(of.fields, MOST_FIELDS)) {
        calls.add(new LuaScript.Call(slot, arguments(of.owner, of.sessions, fields, whole)));
      }
    }
    Iterator<CompletionStage<List<Object>>> sent = LOOKUP.loadAndSend(redis, calls).iterator();
    List<Answer> answers = new ArrayList<>(questions.size());
    for (Question of : questions) {
      List<Answer> parts = new ArrayList<>();
      for (int from = 0; from < of.fields.size(); from += MOST_FIELDS) {
        parts.add(answer(RedisReply.await(sent.next(), ReplayScript.TIMEOUT_MILLIS)));
      }
      answers.add(
          new Answer(
              parts.isEmpty() ? null : parts.get(parts.size() - 1).ownedBy,
              parts.stream().flatMap(part -> part.fields.stream()).toList()));
    }
    return answers;
  }

  /**
   * Answers one question of up to 1,000 fields with whole rows; over a connection that others may
   * use meanwhile.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Answer ask(RedisConnection redis, SlotKeys slot, Question question) {
    return answer(
        LOOKUP.call(
            redis, slot, arguments(question.owner, question.sessions, question.fields, true)));
  }

  private static List<Object> arguments(
      OwnerId owner, List<SessionId> sessions, List<String> fields, boolean whole) {
    return List.of(owner, whole, sessions.size(), sessions, fields);
  }

  /** Lists of the same length: claimed rows, those of each session, and of the one that owns. */
  private static Answer answer(List<Object> reply) {
    String own = LuaScript.string(reply.get(0));
    List<List<byte[]>> places = new ArrayList<>();
    for (Object rows : reply.subList(2, reply.size())) {
      places.add(((List<?>) rows).stream().map(byte[].class::cast).toList());
    }
    List<Found> fields = new ArrayList<>();
    for (int i = 0; i < places.get(0).size(); i++) {
      int field = i;
      List<byte[]> of = places.stream().map(rows -> rows.get(field)).toList();
      fields.add(new Found(of.get(0), of.subList(1, of.size() - 1), of.get(of.size() - 1)));
    }
    return new Answer(own.isEmpty() ? null : SessionId.parse(own), fields);
  }

  /** Everything of an owner that is not flushed: dirty, claimed and sent to it, in no order. */
  public static List<EncodedRow> unflushed(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    List<EncodedRow> rows = new ArrayList<>();
    READ.call(redis, slot, owner).forEach(some -> rows.addAll(LuaScript.rows(some)));
    return rows;
  }

  /**
   * Whether Redis holds nothing of a session, dirty or claimed, as far as it knows. Of a session
   * that no longer owns it knows nothing: its rows were adopted, flushed or parked, so only MySQL
   * can tell, and this returns true.
   */
  public static boolean holdsNothing(
      RedisConnection redis, SlotKeys slot, OwnerId owner, SessionId session) {
    List<Object> reply = PENDING.call(redis, slot, owner, session);
    return !LuaScript.string(reply.get(0)).equals(session.text()) || (Long) reply.get(1) == 0;
  }

  /**
   * What Redis holds of rows that may be lost.
   *
   * @param ownedBy text of the session that owns, empty when Redis knows none
   * @param isWhole whether that session opened on this very Redis, or its node has put back here
   *     what Redis lost of it: then it holds no row that Redis does not
   * @param versions of rows that wait to be flushed; the others are missing
   */
  public record LookupResult(String ownedBy, boolean isWhole, Map<String, Long> versions) {
    /**
     * Whether the node of this session has put here whatever it may hold of the owner's rows.
     *
     * @param session that owns by MySQL
     */
    public boolean isAllOf(SessionId session) {
      return isWhole && ownedBy.equals(session.text());
    }

    /** The same of whichever session owns by MySQL; false while it is opening, or there is none. */
    public boolean isAllOfOwner(@Nullable CountingSessions durable) {
      return durable != null && !durable.opening() && isAllOf(durable.newest());
    }
  }

  /** Looks for rows of one owner. Throws RedisUnavailableException when Redis does not answer. */
  public static LookupResult look(
      RedisConnection redis, SlotKeys slot, OwnerId owner, Collection<String> rows) {
    Map<String, Long> versions = new HashMap<>();
    String ownedBy = null;
    boolean isWhole = true;
    for (List<String> some : LuaScript.pieces(List.copyOf(rows), MOST_FIELDS)) {
      List<Object> reply = LOOKUP.call(redis, slot, arguments(owner, List.of(), some, false));
      String owns = LuaScript.string(reply.get(0));
      isWhole &= (Long) reply.get(1) == 0 && (ownedBy == null || owns.equals(ownedBy));
      ownedBy = owns;
      for (int i = 0; i < some.size(); i++) {
        String row = some.get(i);
        for (Object place : reply.subList(2, reply.size())) {
          String version = LuaScript.string(((List<?>) place).get(i));
          if (VERSION.test(version)) {
            versions.merge(row, Long.parseUnsignedLong(version, 16), Math::max);
          }
        }
      }
    }
    return new LookupResult(ownedBy == null ? "" : ownedBy, isWhole, versions);
  }

  /** {@code replay.lua}: puts lost rows back, many calls at once. Stateless. */
  public static final class ReplayScript {
    /** Large scripts may follow one another, each within this. */
    public static final int TIMEOUT_MILLIS = 30_000;

    private static final LuaScript SCRIPT =
        LuaScript.of(ReplayScript.class, "inbox.lua", "replay.lua");

    private ReplayScript() {}

    /**
     * All that one owner gets back.
     *
     * @param session MySQL says that it owns
     * @param ends whether its node is gone
     */
    public record Owner(OwnerId owner, SessionId session, boolean ends, List<EncodedRow> rows) {}

    /** What became of a group of owners. */
    public sealed interface Outcome {}

    /** Redis holds all rows, in these versions or newer ones; so many were written. */
    public record Applied(long written) implements Outcome {}

    /** A newer session owns one of the owners: nothing of the group was written. */
    public record Refused(OwnerId owner, SessionId ownedBy) implements Outcome {}

    /** A group that was sent. */
    public record Pending(List<Owner> group, CompletionStage<List<Object>> sent) {
      /**
       * Waits for what became of it.
       *
       * @throws io.gameq.GameQueueException when Redis refuses or does not answer
       */
      public Outcome await() {
        List<Object> reply = RedisReply.await(sent, TIMEOUT_MILLIS);
        if ((Long) reply.get(0) == 1) {
          return new Applied((Long) reply.get(1));
        }
        return new Refused(
            group.get(((Long) reply.get(1)).intValue()).owner(),
            SessionId.parse(LuaScript.string(reply.get(2))));
      }
    }

    /** Sends groups of owners; of each group all rows become visible together. */
    public static List<Pending> send(
        RedisConnection redis, SlotKeys[] slots, List<List<Owner>> groups) {
      List<CompletionStage<List<Object>>> sent =
          SCRIPT.loadAndSend(redis, groups.stream().map(group -> call(slots, group)).toList());
      List<Pending> pending = new ArrayList<>(groups.size());
      for (int i = 0; i < groups.size(); i++) {
        pending.add(new Pending(groups.get(i), sent.get(i)));
      }
      return pending;
    }

    private static LuaScript.Call call(SlotKeys[] slots, List<Owner> group) {
      List<Object> args = new ArrayList<>(List.of(SessionScripts.KEPT_MILLIS));
      for (Owner of : group) {
        args.addAll(List.of(of.owner(), of.session(), of.ends(), of.rows().size()));
        of.rows().forEach(row -> args.addAll(List.of(row.key(), row.image())));
      }
      return new LuaScript.Call(
          group.stream().map(of -> slots[of.owner().slot(slots.length)]).toList(), args);
    }
  }
}
