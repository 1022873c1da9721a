package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ScriptPipeline.Call;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** {@code lookup.lua}: what Redis holds of rows. One thread. */
public final class LookupScript {
  private static final LuaScript SCRIPT = LuaScript.of(LookupScript.class, "lookup.lua");

  /** What one HMGET may be asked for: Lua's unpack ends near 8,000. */
  private static final int MOST_FIELDS = 1_000;

  private final ScriptPipeline redis;
  private final SlotKeys[] slots;

  public LookupScript(ScriptPipeline redis, SlotKeys[] slots) {
    this.redis = redis;
    this.slots = slots;
  }

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
  public List<Answer> ask(List<Question> questions, boolean whole) {
    List<Call> calls = new ArrayList<>();
    for (Question question : questions) {
      byte[][] keys = {SlotKeys.bytes(slots[question.owner().slot(slots.length)].prefix())};
      for (List<String> fields : LuaScript.pieces(question.fields(), MOST_FIELDS)) {
        calls.add(new Call(keys, LuaScript.args(arguments(question, fields, whole))));
      }
    }
    Iterator<CompletionStage<List<Object>>> sent = redis.send(SCRIPT, calls).iterator();
    List<Answer> answers = new ArrayList<>(questions.size());
    for (Question question : questions) {
      List<List<Object>> replies = new ArrayList<>();
      for (int from = 0; from < question.fields().size(); from += MOST_FIELDS) {
        replies.add(redis.await(sent.next()));
      }
      answers.add(answer(question, replies));
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
    List<Object> reply = SCRIPT.call(redis, slot, arguments(question, question.fields(), true));
    return answer(question, List.of(reply));
  }

  private static List<Object> arguments(Question question, List<String> fields, boolean whole) {
    List<SessionId> sessions = question.sessions();
    return List.of(question.owner(), whole, sessions.size(), sessions, fields);
  }

  private static Answer answer(Question question, List<List<Object>> replies) {
    List<Found> fields = new ArrayList<>(question.fields().size());
    String own = "";
    for (List<Object> reply : replies) {
      own = LuaScript.string(reply.get(0));
      read(reply, question.sessions().size(), fields);
    }
    return new Answer(own.isEmpty() ? null : SessionId.parse(own), fields);
  }

  private static void read(List<Object> reply, int sessions, List<Found> into) {
    List<?> claimed = (List<?>) reply.get(1);
    List<?> owned = (List<?>) reply.get(2 + sessions);
    for (int i = 0; i < claimed.size(); i++) {
      List<byte[]> dirty = new ArrayList<>(sessions);
      for (int session = 0; session < sessions; session++) {
        dirty.add((byte[]) ((List<?>) reply.get(2 + session)).get(i));
      }
      into.add(new Found((byte[]) claimed.get(i), dirty, (byte[]) owned.get(i)));
    }
  }
}
