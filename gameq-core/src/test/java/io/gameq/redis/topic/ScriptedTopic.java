package io.gameq.redis.topic;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.TestServers;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A topic in a namespace of its own, on the real Redis with the rights of a node, and one sender.
 */
final class ScriptedTopic implements AutoCloseable {
  static final String TOPIC = "mail";
  static final long LEASE = 60_000;

  final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  final SlotKeys[] slots = SlotKeys.all(namespace, 4);
  final RedisConnector connector;
  final RedisConnection redis;
  String walId = "node-aaaaaaaa";
  String consumer = "node 1";

  private final Map<String, SlotMarks> marks = new HashMap<>();
  private long sequence = 100;
  private long version = 1;

  ScriptedTopic() {
    this(TestServers.redisUri(Role.NODE));
  }

  ScriptedTopic(String uri) {
    connector = new RedisConnector(new RedisConfig(uri));
    redis = connector.open();
    MessagesScript.load(redis);
  }

  static MessageId id(String key) {
    return MessageId.of(TOPIC, null, key);
  }

  static MessageId id(String group, String key) {
    return MessageId.of(TOPIC, group, key);
  }

  SlotKeys slot(MessageId id) {
    return slots[id.slot(slots.length)];
  }

  long now() {
    List<byte[]> time = redis.sync().time();
    return Long.parseLong(LuaScript.string(time.get(0))) * 1_000
        + Long.parseLong(LuaScript.string(time.get(1))) / 1_000;
  }

  // --- changes

  MessageChange.Publish publish(MessageId id, String payload, long due) {
    return publish(id, payload, due, true, 0, 0);
  }

  MessageChange.Publish publish(
      MessageId id, String payload, long due, boolean keeps, long cap, int priority) {
    byte[] value = MessageValue.encode(now(), priority, "", payload.getBytes(UTF_8));
    return new MessageChange.Publish(id, id.slot(slots.length), due, keeps, cap, value);
  }

  MessageChange.Publish recurring(MessageId id, String payload, long occurrence) {
    byte[] value = MessageValue.encode(occurrence, 0, "every 1000", payload.getBytes(UTF_8));
    return new MessageChange.Publish(id, id.slot(slots.length), occurrence, false, 0, value);
  }

  MessageChange.Retime retime(MessageId id, long due) {
    return new MessageChange.Retime(id, id.slot(slots.length), due);
  }

  MessageChange.Delete delete(MessageId id) {
    return new MessageChange.Delete(id, id.slot(slots.length));
  }

  MessageChange.Expect expect(MessageId id, long of) {
    return new MessageChange.Expect(id, id.slot(slots.length), of);
  }

  static MessageChange.Ack ack(TakenMessage taken) {
    return ack(taken, 0);
  }

  static MessageChange.Ack ack(TakenMessage taken, long nextDue) {
    MessageValue.Decoded value = MessageValue.decode(taken.value());
    return new MessageChange.Ack(
        taken.id(),
        taken.slot(),
        value.version(),
        taken.token(),
        nextDue,
        value.schedule().isEmpty() ? 0 : value.sinceMillis(),
        null);
  }

  // --- sending

  /** A commit that is to be sent. */
  ScriptCommit commit(MessageChange... changes) {
    return commit(++sequence, ++version, changes);
  }

  ScriptCommit commitOf(long ofVersion, MessageChange... changes) {
    return commit(++sequence, ofVersion, changes);
  }

  ScriptCommit commit(long number, long ofVersion, MessageChange... changes) {
    for (MessageChange change : changes) {
      change.setVersion(ofVersion);
    }
    return new ScriptCommit(number, ofVersion, List.of(changes));
  }

  /** Sends commits of one change each for the first time, in one call. */
  List<MessagesScript.Refused> send(MessageChange... changes) {
    return first(Arrays.stream(changes).map(this::commit).toArray(ScriptCommit[]::new));
  }

  /** Sends for the first time. */
  List<MessagesScript.Refused> first(ScriptCommit... commits) {
    return call(Mode.FIRST, commits);
  }

  /** Sends again after the reply was lost. */
  List<MessagesScript.Refused> again(ScriptCommit... commits) {
    return call(Mode.AGAIN, commits);
  }

  List<MessagesScript.Refused> replay(ScriptCommit... commits) {
    return send(WalCall.ofReplay(slots, 0), List.of(), commits).refused();
  }

  private List<MessagesScript.Refused> call(Mode mode, ScriptCommit... commits) {
    Map<Integer, Long> newest = new LinkedHashMap<>();
    for (ScriptCommit commit : commits) {
      commit.messages().forEach(of -> newest.put(of.slot(), commit.sequence()));
    }
    List<SlotMarks.Move> moves = new ArrayList<>();
    newest.forEach((slot, last) -> moves.add(marks().next(slot, last)));
    MessagesScript.Answer answer = send(call(mode), moves, commits);
    for (int i = 0; i < moves.size(); i++) {
      if (!answer.fits() || !marks().taken(moves.get(i), answer.marks().get(i))) {
        throw new AssertionError("the journal marks do not fit");
      }
    }
    return answer.refused();
  }

  /** Those of the WAL that there is now. */
  SlotMarks marks() {
    return marks.computeIfAbsent(walId, id -> new SlotMarks(slots.length));
  }

  WalCall call(Mode mode) {
    return new WalCall(SlotKeys.bytes(walId), mode, 0, 0, slots);
  }

  MessagesScript.Answer send(WalCall call, List<SlotMarks.Move> moves, ScriptCommit... commits) {
    return MessagesScript.send(redis, call, moves, List.of(commits)).toCompletableFuture().join();
  }

  // --- consumers

  /**
   * The latest time that the consumer's node heard of; of no other clock than this one at first.
   */
  final AtomicLong latest = new AtomicLong();

  /** The scripts of a topic whose messages have so many attempts. */
  ConsumerScripts scripts(int attempts, long ageMillis) {
    TopicDefinition definition =
        new TopicDefinition(TOPIC, slots.length, ageMillis, 1, attempts, LEASE, 0, "", false);
    return new ConsumerScripts(definition, slots, consumer, latest::get);
  }

  List<Boolean> extend(TakenMessage taken, long leaseMillis) {
    return scripts(16, 0).extend(redis, List.of(taken), leaseMillis);
  }

  ConsumerScripts.Batch take(SlotKeys slot, int most, long ageMillis) {
    return take(slot, most, ageMillis, 16);
  }

  ConsumerScripts.Batch take(SlotKeys slot, int most, long ageMillis, int attempts) {
    return scripts(attempts, ageMillis)
        .take(redis, List.of(new ConsumerScripts.Share(slot.slot(), most)), null)
        .get(0)
        .get();
  }

  /** Takes whatever is due in all slots. */
  List<TakenMessage> take() {
    List<TakenMessage> taken = new ArrayList<>();
    for (SlotKeys slot : slots) {
      taken.addAll(take(slot, 100, 0).taken());
    }
    return taken;
  }

  /** Takes the only message that is due. */
  TakenMessage takeOne() {
    List<TakenMessage> taken = take();
    if (taken.size() != 1) {
      throw new AssertionError("took " + taken);
    }
    return taken.get(0);
  }

  /** The same, whose lease runs out then. */
  TakenMessage takeLate() {
    TakenMessage taken = takeOne();
    lapse(taken);
    return taken;
  }

  ConsumerScripts.NackResult nack(TakenMessage taken, long backoff, int most, long nextDue) {
    return scripts(most, 0)
        .nack(
            redis,
            List.of(
                new ConsumerScripts.Failure(
                    taken, backoff, ConsumerScripts.Attempt.FAILED, "went wrong: ü", nextDue)))
        .get(0);
  }

  /** Has the lease of a message run out. */
  void lapse(TakenMessage taken) {
    redis.sync().zadd(key(taken.id(), "lease"), 1.0, SlotKeys.bytes(taken.id().lane()));
  }

  /** What a handler gets. */
  static String payload(byte[] value) {
    return new String(MessageValue.decode(value).payload(), UTF_8);
  }

  static List<String> payloads(List<TakenMessage> taken) {
    return taken.stream().map(of -> payload(of.value())).toList();
  }

  // --- what Redis holds

  FoundMessage find(MessageId id) {
    return TopicMessages.find(redis, slot(id), id);
  }

  boolean isNowhere(MessageId id) {
    FoundMessage found = find(id);
    return found.pending() == null && found.held() == null && found.dead() == null;
  }

  String pending(MessageId id) {
    FoundMessage.Version pending = find(id).pending();
    return pending == null ? "none" : payload(pending.value());
  }

  /** The value of a message that is pending. */
  byte[] value(MessageId id) {
    return Objects.requireNonNull(find(id).pending()).value();
  }

  long due(MessageId id) {
    FoundMessage.Version pending = find(id).pending();
    return pending == null ? -1 : pending.millis();
  }

  byte[] key(MessageId id, String name) {
    return TopicMessages.key(slot(id), TOPIC, name);
  }

  /** Of its lane in a sorted set; -1 when it is not in it. */
  double score(MessageId id, String name) {
    Double score = redis.sync().zscore(key(id, name), SlotKeys.bytes(id.lane()));
    return score == null ? -1 : score;
  }

  Map<String, String> journal(int slot) {
    Map<String, String> fields = new TreeMap<>();
    redis
        .sync()
        .hgetall(SlotKeys.bytes(slots[slot].prefix() + ":journal"))
        .forEach((k, v) -> fields.put(new String(k, US_ASCII), new String(v, US_ASCII)));
    return fields;
  }

  /** What Redis holds of the topic, for {@link #failOverTo}. */
  Map<String, byte[]> image() {
    try (var admin = TestServers.redis()) {
      Map<String, byte[]> image = new TreeMap<>();
      for (String key : all(admin)) {
        image.put(key, admin.sync().dump(key));
      }
      return image;
    }
  }

  /** Redis knows no more than this: a replica that was behind is the primary. */
  void failOverTo(Map<String, byte[]> image) {
    try (var admin = TestServers.redis()) {
      admin.sync().del(all(admin).toArray(String[]::new));
      image.forEach((key, value) -> admin.sync().restore(key, 0, value));
    }
  }

  private List<String> all(StatefulRedisConnection<String, String> admin) {
    return admin.sync().keys("{" + namespace + ":*}:t:*");
  }

  /** The keys of the topic that exist, without their prefix. */
  List<String> keys() {
    try (var admin = TestServers.redis()) {
      return all(admin).stream()
          .map(key -> key.substring(key.indexOf(":t:") + 3 + TOPIC.length() + 1))
          .sorted()
          .toList();
    }
  }

  @Override
  public void close() {
    redis.close();
    connector.close();
  }
}
