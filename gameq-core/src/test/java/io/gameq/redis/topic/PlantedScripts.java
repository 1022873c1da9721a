package io.gameq.redis.topic;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.MessagesScript;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

/** The real scripts of topics, with a rule taken out perhaps. One thread. */
final class PlantedScripts {
  private static final String TOPIC = "t";

  /** Whether Redis is full. */
  private static final String FULL = "is_full = type(answer) == 'table' and answer.err ~= nil";

  private final RedisConnection redis;
  private final SlotKeys slot;
  private final Map<String, String> sha1 = new LinkedHashMap<>();
  private final String put;
  private final String take;

  /** A rule that is taken out, by editing the scripts: both texts must be there. */
  record Plant(String rule, String find, String replacement) {
    static final Plant NONE = new Plant("none", "", "");

    boolean isNone() {
      return find.isEmpty();
    }
  }

  /** What a script answered, and what Redis holds then. */
  record After(List<Object> reply, TopicImage image) {}

  PlantedScripts(RedisConnection redis, SlotKeys slot, Plant plant) {
    this.redis = redis;
    this.slot = slot;
    Map<String, LuaScript> scripts =
        Map.of(
            "messages",
            messages(),
            "full",
            messages(),
            "take",
            ConsumerScripts.TAKE,
            "nack",
            ConsumerScripts.script("nack.lua"),
            "handle",
            ConsumerScripts.script("handlers.lua", "handle.lua"));
    boolean matched = false;
    for (Map.Entry<String, LuaScript> of : scripts.entrySet()) {
      String text = new String(of.getValue().text(), UTF_8);
      String edited = plant.isNone() ? text : text.replace(plant.find, plant.replacement);
      matched |= !edited.equals(text);
      if (of.getKey().equals("full")) {
        edited = edited.replace(FULL, "is_full, answer = true, {err = 'OOM '}");
      }
      sha1.put(of.getKey(), redis.sync().scriptLoad(edited.getBytes(UTF_8)));
    }
    if (!matched && !plant.isNone()) {
      throw new IllegalStateException("plant '" + plant.rule + "' matches nothing: " + plant.find);
    }
    put = redis.sync().scriptLoad(TopicImage.PUT.getBytes(UTF_8));
    take = redis.sync().scriptLoad(TopicImage.TAKE.getBytes(UTF_8));
  }

  /** Has Redis hold an image, runs a script, and looks what it holds then: in one go. */
  After run(TopicImage before, String script, List<String> args) {
    List<CompletionStage<List<Object>>> sent = new ArrayList<>();
    redis.inOneGo(
        () -> {
          List<String> image = new ArrayList<>(List.of(TOPIC));
          image.addAll(before.arguments());
          sent.add(send(put, image));
          sent.add(send(Objects.requireNonNull(sha1.get(script)), args));
          sent.add(send(take, List.of(TOPIC)));
        });
    List<Object> unused = sent.get(0).toCompletableFuture().join();
    return new After(
        sent.get(1).toCompletableFuture().join(),
        TopicImage.of(sent.get(2).toCompletableFuture().join()));
  }

  private CompletionStage<List<Object>> send(String sha, List<String> args) {
    byte[][] keys = {SlotKeys.bytes(slot.prefix())};
    byte[][] argv = args.stream().map(arg -> arg.getBytes(ISO_8859_1)).toArray(byte[][]::new);
    return redis.async().evalsha(sha, ScriptOutputType.MULTI, keys, argv);
  }

  // --- calls

  private static LuaScript messages() {
    return LuaScript.of(
        MessagesScript.class, "topic.lua", "batches.lua", "journal.lua", "messages.lua");
  }

  /** What the journal marks of a WAL tell. */
  static JournalMarks marks(TopicImage image, String wal) {
    return JournalMarks.parse(
        List.of(Objects.requireNonNullElse(image.get("journal", wal), "0")),
        Objects.requireNonNullElse(image.get("journal", wal + "!"), ""));
  }

  /** A publish, which is refused when Redis is full. */
  After publish(
      TopicImage image, long sequence, boolean isAgain, boolean isFull, String id, String value) {
    List<String> args = call(image, "P", isAgain ? Sent.AGAIN : Sent.FIRST, sequence, true, 1);
    args.addAll(List.of("p", "1", TOPIC, isGrouped(id) ? "1" : "0", "1", "1", "0"));
    args.addAll(List.of(id, "1000", value));
    return run(image, isFull ? "full" : "messages", args);
  }

  /** All has arrived that was sent before: nothing is lost here. */
  private static List<String> call(
      TopicImage image, String wal, Sent how, long sequence, boolean publishes, int batches) {
    String number = Long.toString(sequence);
    boolean isReplayed = how == Sent.REPLAYED;
    List<String> args =
        new ArrayList<>(
            List.of(isReplayed ? "" : wal, how.mode, publishes ? "1" : "0", number, number, "0"));
    if (!isReplayed) {
      SlotMarks marks = new SlotMarks(1);
      marks.read(marks(image, wal));
      SlotMarks.Move move = marks.next(0, sequence);
      args.add(Long.toString(move.least()));
      args.add(Long.toString(move.before()));
      args.add(Long.toString(move.delta()));
    }
    if (how != Sent.FIRST) {
      args.addAll(List.of("c", number, Integer.toString(batches)));
    }
    return args;
  }

  /** What was handled, under which token. */
  record Handled(String id, int version, String token) {}

  /** How {@code batches.lua} is to take an acknowledgement. */
  enum Sent {
    FIRST("0"),
    AGAIN("1"),
    REPLAYED("2");

    private final String mode;

    Sent(String mode) {
      this.mode = mode;
    }
  }

  /** An acknowledgement out of a consumer's WAL. */
  After ack(TopicImage image, String wal, long sequence, Sent how, Handled of) {
    String id = of.id;
    boolean isReplayed = how == Sent.REPLAYED; // with something that stands or falls with it
    List<String> args = call(image, wal, how, sequence, false, isReplayed ? 2 : 1);
    args.addAll(List.of("a", "1", TOPIC, isGrouped(id) ? "1" : "0", "1"));
    args.addAll(List.of(Long.toString(sequence), id, of.token, "0", "%016x".formatted(of.version)));
    if (isReplayed) {
      args.addAll(List.of("e", "1", TOPIC, "0", "1", "other", "%016x".formatted(0)));
    }
    return run(image, "messages", args);
  }

  After take(TopicImage image, String token) {
    return run(image, "take", List.of(TOPIC, "1", token, "9000000", "0", "n", "0"));
  }

  After nack(TopicImage image, String id, String token) {
    return run(image, "nack", List.of(TOPIC, "16", id, token, "0", "1", "0", "failed"));
  }

  /** It keeps its place; its lane is looked at again so many ms from now. */
  After giveBack(TopicImage image, String id, String token, String delay) {
    return run(image, "nack", List.of(TOPIC, "16", id, token, delay, "2", "0", "elsewhere"));
  }

  /** In a topic of owners, by a process or, for '', by who opens owners. */
  After take(TopicImage image, String token, String process) {
    return run(image, "take", List.of(TOPIC, "1", token, "9000000", "0", "n", "0", process));
  }

  /** What a process says: for each owner its name, the session's epoch, 1 or 0. */
  After handle(TopicImage image, String process, List<String> owners) {
    List<String> args = new ArrayList<>(List.of(TOPIC, process));
    args.addAll(owners);
    return run(image, "handle", args);
  }

  static boolean isGrouped(String id) {
    return id.indexOf(':') >= 0;
  }

  static String lane(String id) {
    return isGrouped(id) ? id.substring(0, id.indexOf(':') + 1) : id;
  }
}
