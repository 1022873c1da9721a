package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ScriptPipeline.Call;
import io.gameq.redis.script.ScriptPipeline.Sent;
import java.util.ArrayList;
import java.util.List;
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
      for (int from = 0; from < question.fields().size(); from += MOST_FIELDS) {
        calls.add(call(question, from, whole));
      }
    }
    List<Sent> sent = redis.send(SCRIPT, calls);
    List<Answer> answers = new ArrayList<>(questions.size());
    int next = 0;
    for (Question question : questions) {
      List<Found> fields = new ArrayList<>(question.fields().size());
      SessionId ownedBy = null;
      for (int from = 0; from < question.fields().size(); from += MOST_FIELDS) {
        List<Object> reply = redis.await(sent.get(next++));
        String own = LuaScript.string(reply.get(0));
        ownedBy = own.isEmpty() ? null : SessionId.parse(own);
        read(reply, question.sessions().size(), fields);
      }
      answers.add(new Answer(ownedBy, fields));
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
    List<Object> reply =
        SCRIPT.call(
            redis, SlotKeys.bytes(slot.prefix()), arguments(question, question.fields(), true));
    String own = LuaScript.string(reply.get(0));
    List<Found> fields = new ArrayList<>();
    read(reply, question.sessions().size(), fields);
    return new Answer(own.isEmpty() ? null : SessionId.parse(own), fields);
  }

  private Call call(Question question, int from, boolean whole) {
    List<String> fields =
        question.fields().subList(from, Math.min(question.fields().size(), from + MOST_FIELDS));
    byte[][] keys = {slots[question.owner().slot(slots.length)].prefix().getBytes(US_ASCII)};
    return new Call(keys, arguments(question, fields, whole));
  }

  private static byte[][] arguments(Question question, List<String> fields, boolean whole) {
    List<byte[]> args = new ArrayList<>();
    args.add(question.owner().encoded().getBytes(US_ASCII));
    args.add(new byte[] {(byte) (whole ? '1' : '0')});
    args.add(Integer.toString(question.sessions().size()).getBytes(US_ASCII));
    question.sessions().forEach(session -> args.add(session.text().getBytes(US_ASCII)));
    fields.forEach(field -> args.add(field.getBytes(US_ASCII)));
    return args.toArray(byte[][]::new);
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
