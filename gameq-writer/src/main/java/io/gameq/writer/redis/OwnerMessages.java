package io.gameq.writer.redis;

import io.gameq.GameQueueException;
import io.gameq.message.MessageChange.Delete;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.redis.topic.TopicMessages;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.redis.topic.TopicMessages.TopicSurvey.TopicSummary;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The messages of all topics whose key or group is one of some texts. Looks at every message: Redis
 * reads {@value #PAGE} in one call, about a millisecond. Used by one thread.
 */
public final class OwnerMessages {
  private static final int PAGE = 1_000;

  private final ControlConnection redis;
  private final Slots slots;

  /** With a connection that somebody else closes. */
  public OwnerMessages(ControlConnection redis, Slots slots) {
    this.redis = redis;
    this.slots = slots;
  }

  /** A message, and the slot in which it is. */
  public record OwnerMessage(SlotKeys slot, FoundMessage message) {}

  /**
   * Finds them: pending, held and dead.
   *
   * @throws GameQueueException when a topic cannot be looked at, or there are more than {@link
   *     TopicSurvey#MOST_TOPICS}: then nobody knows what is left there
   */
  public List<OwnerMessage> find(Collection<String> texts) {
    Set<String> names =
        texts.stream().map(PercentEncoding::percent).collect(Collectors.toUnmodifiableSet());
    return redis.ask(connection -> find(connection, names));
  }

  private List<OwnerMessage> find(RedisConnection connection, Set<String> names) {
    TopicSurvey survey = TopicSurvey.of(connection, slots);
    if (survey.left() > 0) {
      throw new GameQueueException(
          "%s topics are more than this looks through".formatted(survey.left()));
    }
    return survey.topics().stream().flatMap(of -> find(connection, of, names).stream()).toList();
  }

  private List<OwnerMessage> find(RedisConnection connection, TopicSummary of, Set<String> names) {
    if (of.definition() == null) {
      throw new GameQueueException("topic %s cannot be read: %s".formatted(of.topic(), of.error()));
    }
    String topic = of.topic();
    Predicate<String> isWanted = id -> Stream.of(id.split(":", -1)).anyMatch(names::contains);
    return TopicSurvey.slots(of.definition(), slots).stream()
        .flatMap(
            slot -> {
              Set<String> ids = new TreeSet<>();
              for (String name : names) { // no character of a pattern is in one
                ScanArgs args = ScanArgs.Builder.limit(PAGE).match("*" + name + "*");
                for (String kind : List.of("msg", "dead")) {
                  fields(connection, TopicMessages.key(slot, topic, kind), args)
                      .map(field -> LuaScript.string(field.getKey()))
                      .forEach(ids::add);
                }
              }
              ScanArgs all = ScanArgs.Builder.limit(PAGE); // of those that handlers have, few
              fields(connection, TopicMessages.key(slot, topic, "claim"), all)
                  .map(field -> LuaScript.string(field.getValue()).split(" ", 3))
                  .filter(words -> words.length == 3)
                  .forEach(words -> ids.add(words[1]));
              return ids.stream()
                  .filter(isWanted)
                  .map(id -> TopicMessages.find(connection, slot, new MessageId(topic, id)))
                  .filter(it -> it.pending() != null || it.held() != null || it.dead() != null)
                  .map(it -> new OwnerMessage(slot, it));
            })
        .toList();
  }

  private static Stream<KeyValue<byte[], byte[]>> fields(
      RedisConnection connection, byte[] key, ScanArgs args) {
    return RedisReply.await(
        () -> ScanIterator.hscan(connection.sync(), key, args).stream().toList())
        .stream();
  }

  /**
   * Removes messages for good: those that wait, and dead letters. What a handler has it finishes,
   * and it does not come back.
   *
   * @param version of now; that of a message may be ahead
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be gone
   */
  public void delete(List<OwnerMessage> messages, long version) {
    for (OwnerMessage of : messages) {
      MessageId id = of.message.id();
      FoundMessage.Version dead = of.message.dead();
      if (dead != null) {
        long its = MessageValue.version(dead.value());
        boolean unused =
            redis.call(connection -> TopicMessages.discardDead(connection, of.slot, id, its));
      }
      FoundMessage.Version pending = of.message.pending();
      if (pending != null || of.message.held() != null) {
        long its = pending == null ? 0 : MessageValue.version(pending.value());
        delete(new Delete(id, of.slot.slot()), Math.max(version, its));
      }
    }
  }

  /** Out of no WAL: it moves no marks, and a newer message stays. */
  private void delete(Delete change, long version) {
    WalCall call = new WalCall(new byte[0], Mode.AGAIN, 0, 0, slots.all());
    MessagesScript.Answer answer =
        redis.call(
            connection -> {
              MessagesScript.load(connection);
              return RedisReply.await(
                  MessagesScript.send(
                      connection,
                      call,
                      List.of(),
                      List.of(new ScriptCommit(0, version, List.of(change)))));
            });
    if (!answer.refused().isEmpty()) {
      throw new GameQueueException(
          "a message of topic %s cannot be removed: %s"
              .formatted(change.id().topic(), answer.refused().get(0).kind()));
    }
  }
}
