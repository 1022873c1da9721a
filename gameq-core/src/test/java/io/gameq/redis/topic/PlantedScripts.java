package io.gameq.redis.topic;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
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
            LuaScript.of(MessagesScript.class, "topic.lua", "batches.lua", "messages.lua"),
            "take",
            TopicScript.of("take.lua"),
            "nack",
            TopicScript.of("nack.lua"));
    boolean matched = false;
    for (Map.Entry<String, LuaScript> of : scripts.entrySet()) {
      String text = new String(of.getValue().text(), UTF_8);
      String edited = plant.isNone() ? text : text.replace(plant.find, plant.replacement);
      matched |= !edited.equals(text);
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

  /** A publish; {@code before} is 0 when it is sent again. */
  After publish(TopicImage image, long sequence, long before, String id, String value) {
    boolean isAgain = before == 0;
    List<String> args = new ArrayList<>(List.of("P", "0", isAgain ? "1" : "0", "1"));
    commit(args, sequence, before);
    args.addAll(List.of("p", "1", TOPIC, isGrouped(id) ? "1" : "0", "1", "1", "0"));
    args.addAll(List.of(id, "1000", value));
    return run(image, "messages", args);
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
    List<String> args = new ArrayList<>(List.of(wal, "0", how.mode, "0"));
    boolean isReplayed = how == Sent.REPLAYED; // with something that stands or falls with it
    commit(args, sequence, how == Sent.FIRST ? sequence - 1 : 0, isReplayed ? 2 : 1);
    args.addAll(List.of("a", "1", TOPIC, isGrouped(id) ? "1" : "0", "1"));
    args.addAll(List.of(Long.toString(sequence), id, of.token, "0", "%016x".formatted(of.version)));
    if (isReplayed) {
      args.addAll(List.of("e", "1", TOPIC, "0", "1", "other", "%016x".formatted(0)));
    }
    return run(image, "messages", args);
  }

  private static void commit(List<String> args, long sequence, long before) {
    commit(args, sequence, before, 1);
  }

  private static void commit(List<String> args, long sequence, long before, int batches) {
    String number = Long.toString(sequence);
    args.addAll(
        before == 0
            ? List.of("c", number, "1", "1", "0", Integer.toString(batches))
            : List.of(Long.toString(before), number, number));
  }

  After take(TopicImage image, String token) {
    return run(image, "take", List.of(TOPIC, "1", token, "9000000", "0", "n"));
  }

  After nack(TopicImage image, String id, String token) {
    return run(image, "nack", List.of(TOPIC, "16", id, token, "0", "1", "0", "failed"));
  }

  static boolean isGrouped(String id) {
    return id.indexOf(':') >= 0;
  }

  static String lane(String id) {
    return isGrouped(id) ? id.substring(0, id.indexOf(':') + 1) : id;
  }
}
