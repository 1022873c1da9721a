package io.gameq.redis.topic;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.topic.PlantedScripts.After;
import io.gameq.redis.topic.PlantedScripts.Handled;
import io.gameq.redis.topic.PlantedScripts.Sent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Every interleaving of a publisher, two consumers and leases that run out, on the real Redis with
 * the real scripts: restores what Redis held, runs one call, looks again; a state that was seen
 * before is not explored again. Stops at the first violation.
 *
 * <pre>
 * publisher   sends its messages one after another without waiting; each is applied, or refused as
 *             by a full Redis | hears an answer | loses its connection, and with it all answers |
 *             sends what it has no answer of again
 * consumers   take one | acknowledge, and hear the answer, or lose it, or the request | send it
 *             again | give back | are killed before they hear it, and their WALs replayed
 * leases      run out while their handlers go on
 * </pre>
 *
 * Checked at each step: what is taken is held by nobody else (TWO HANDLERS), what is acknowledged
 * or given back is held by that token (STALE TOKEN), a version is taken twice only after its lease
 * ran out or it was given back (HANDLED TWICE). Once all is published, with every consumer killed,
 * a healthy one handles what is left: then of each message the newest that was acknowledged to its
 * publisher, or a later one, has been handled (LOST), the newest last, but for what Redis refused
 * and was sent again behind it (OUT OF ORDER), nothing that was told to be refused was (REFUSED),
 * and nothing is left (STRANDED).
 */
final class TopicExplorer {
  private final PlantedScripts scripts;
  private final List<String> published;
  private final int takesEach;
  private final Set<String> seen = new HashSet<>();
  private final Set<String> ended = new HashSet<>();
  private final Deque<String> path = new ArrayDeque<>();
  private @Nullable String violation;
  private int steps;

  /**
   * What to explore.
   *
   * @param published the ids of the messages, in the order in which they are published
   */
  TopicExplorer(PlantedScripts scripts, List<String> published, int takesEach) {
    this.scripts = scripts;
    this.published = published;
    this.takesEach = takesEach;
  }

  int states() {
    return seen.size();
  }

  int ends() {
    return ended.size();
  }

  int steps() {
    return steps;
  }

  /** What is wrong, and how it came to that; null when nothing is. */
  @Nullable String explore(TopicCast state) {
    if (violation != null || !seen.add(state.key())) {
      return violation;
    }
    if (state.publisherIsDone(published.size()) && ended.add(state.endKey())) {
      end(state);
    }
    publisher(state);
    for (int c = 0; c < TopicCast.CONSUMERS; c++) {
      consumer(state, c);
    }
    if (state.lapses > 0) {
      for (String lane : state.image.heldLanes()) {
        step(state, "lapse " + lane, after -> lapse(after, lane));
      }
    }
    return violation;
  }

  private void step(TopicCast from, String name, Consumer<TopicCast> what) {
    if (violation != null) {
      return;
    }
    TopicCast after = from.copy();
    path.addLast(name);
    what.accept(after);
    steps++;
    if (after.wrong != null) {
      violated(after.wrong);
    } else {
      explore(after);
    }
    path.removeLast();
  }

  private void violated(String wrong) {
    violation = wrong + " by " + path;
  }

  private static void lapse(TopicCast state, String lane) {
    state.lapses--;
    state.tookOnce(heldVersion(state.image, lane), -1);
    state.image = state.image.lapsed(lane);
  }

  // --- the publisher

  private void publisher(TopicCast state) {
    if (state.next < published.size() && state.again.isEmpty()) {
      step(state, "send " + state.next, after -> send(after, true));
      if (state.refusals > 0) {
        step(state, "send in vain " + state.next, after -> send(after, false));
      }
    }
    if (!state.unanswered.isEmpty()) {
      step(state, "hear", TopicExplorer::hear);
      if (state.breaks > 0) {
        step(
            state,
            "break",
            after -> {
              after.breaks--;
              after.again = after.unanswered;
              after.unanswered = List.of();
            });
      }
    }
    if (!state.again.isEmpty()) {
      step(state, "send again " + state.again.get(0), this::sendAgain);
    }
  }

  private void send(TopicCast state, boolean isApplied) {
    int i = state.next++;
    List<Integer> unanswered = new ArrayList<>(state.unanswered);
    unanswered.add(i);
    state.unanswered = List.copyOf(unanswered);
    publish(state, i, false, !isApplied);
    if (!isApplied) {
      state.refusals--;
      state.refusedByRedis.add(i);
      state.refusedOnce.add(i);
    }
  }

  private void publish(TopicCast state, int i, boolean isAgain, boolean isFull) {
    After after =
        scripts.publish(state.image, 10L * i + 11, isAgain, isFull, published.get(i), value(i + 1));
    state.image = after.image();
    if (isApplied(after) == isFull) {
      state.wrong = "REFUSED: publish " + i;
    }
  }

  private static void hear(TopicCast state) {
    int i = state.unanswered.get(0);
    state.unanswered = state.unanswered.subList(1, state.unanswered.size());
    (state.refusedByRedis.contains(i) ? state.toldRefused : state.acknowledged).add(i);
  }

  private void sendAgain(TopicCast state) {
    int i = state.again.get(0);
    state.again = state.again.subList(1, state.again.size());
    JournalMarks marks = PlantedScripts.marks(state.image, "P");
    if (marks.lacks(0, 10L * i + 11) || marks.wasRefused(10L * i + 11, true)) {
      publish(state, i, true, false);
    }
    state.refusedByRedis.remove(i);
    state.acknowledged.add(i);
  }

  /** A value without a time, that no publish gives one. */
  private static String value(int version) {
    return "%016x".formatted(version) + "\0".repeat(14) + "payload";
  }

  // --- consumers

  private void consumer(TopicCast state, int c) {
    if (!state.holds(c)) {
      if (state.takes[c] < takesEach) {
        step(state, "take by " + c, after -> take(after, c));
      }
      return;
    }
    if (state.unsure[c]) {
      step(state, "ack again by " + c, after -> ackAgain(after, c));
      if (state.kills > 0) {
        step(state, "kill and replay of " + c, after -> replay(after, c));
      }
      return;
    }
    step(state, "ack by " + c, after -> ack(after, c, true));
    if (state.lostAcks > 0) {
      step(state, "ack without answer by " + c, after -> ack(after, c, false));
      step(
          state,
          "ack that is lost by " + c,
          after -> {
            after.lostAcks--;
            after.acks[c]++;
            after.unsure[c] = true;
          });
    }
    if (state.nacks > 0) {
      step(state, "nack by " + c, after -> nack(after, c));
    }
  }

  private void take(TopicCast state, int c) {
    String token = "T" + c + "-" + ++state.takes[c];
    TopicImage before = state.image;
    After after = scripts.take(before, token);
    state.image = after.image();
    if (after.reply().size() > 5) {
      state.token[c] = token;
      state.id[c] = new String((byte[]) after.reply().get(5), ISO_8859_1);
      state.version[c] = version((byte[]) after.reply().get(9));
      state.tookOnce(state.version[c], 1);
      checkTaken(before, state, state.id[c], state.version[c]);
    }
  }

  private static void checkTaken(TopicImage before, TopicCast state, String id, int version) {
    if (before.isHeld(PlantedScripts.lane(id))) {
      state.wrong = "TWO HANDLERS: " + id;
    } else if (state.taken.getOrDefault(version, 0) > 1) {
      state.wrong = "HANDLED TWICE: version " + version;
    }
  }

  private static int version(byte[] value) {
    return Integer.parseInt(new String(value, 0, 16, ISO_8859_1), 16);
  }

  private static int heldVersion(TopicImage image, String lane) {
    String value = image.get("held", lane);
    return value == null ? 0 : version(value.getBytes(ISO_8859_1));
  }

  private void ack(TopicCast state, int c, boolean isHeard) {
    state.acks[c]++;
    boolean isApplied = sendAck(state, c, Sent.FIRST);
    if (isHeard) {
      state.release(c);
    } else {
      state.lostAcks--;
      state.unsure[c] = true;
      state.arrived[c] = isApplied;
    }
  }

  private void ackAgain(TopicCast state, int c) {
    boolean isApplied = sendAck(state, c, Sent.AGAIN);
    if (state.arrived[c] && !isApplied) {
      state.wrong = "REFUSED: an acknowledgement that was applied before";
    }
    state.release(c);
  }

  /** Whoever holds it then, or has ended it: it is over. */
  private void replay(TopicCast state, int c) {
    state.kills--;
    boolean isApplied = sendAck(state, c, Sent.REPLAYED);
    if (state.arrived[c] && !isApplied) {
      state.wrong = "REFUSED: the replay of an acknowledgement that was applied";
    }
    state.release(c);
  }

  private static boolean isApplied(After after) {
    return ((List<?>) after.reply().get(2)).isEmpty();
  }

  private boolean sendAck(TopicCast state, int c, Sent how) {
    TopicImage before = state.image;
    String token = state.token[c];
    String id = state.id[c];
    Handled of = new Handled(id, state.version[c], token);
    long sequence = state.acks[c] + 1L;
    JournalMarks marks = PlantedScripts.marks(before, "C" + c);
    if (how == Sent.AGAIN && !marks.lacks(0, sequence) && !marks.wasRefused(sequence, false)) {
      return true; // it is there
    }
    After after = scripts.ack(before, "C" + c, sequence, how, of);
    state.image = after.image();
    boolean isApplied = isApplied(after);
    if (isApplied && !state.arrived[c] && how == Sent.REPLAYED) {
      state.handledBefore(id, state.version[c]);
    } else if (isApplied && !state.arrived[c]) {
      if (!before.isClaimedBy(token, PlantedScripts.lane(id), id)) {
        state.wrong = "STALE TOKEN: acknowledged by " + c;
      }
      state.handled(id, state.version[c]);
    }
    return isApplied;
  }

  private void nack(TopicCast state, int c) {
    TopicImage before = state.image;
    After after = scripts.nack(before, state.id[c], state.token[c]);
    state.image = after.image();
    state.nacks--;
    if ((Long) after.reply().get(0) != 0) {
      if (!before.isClaimedBy(state.token[c], PlantedScripts.lane(state.id[c]), state.id[c])) {
        state.wrong = "STALE TOKEN: given back by " + c;
      }
      if (before.isHeld(PlantedScripts.lane(state.id[c]))) {
        state.tookOnce(state.version[c], -1);
      }
    }
    state.release(c);
  }

  // --- the end

  private void end(TopicCast state) {
    TopicCast end = state.copy();
    for (String lane : end.image.heldLanes()) {
      lapse(end, lane);
    }
    for (int n = 0; end.wrong == null && n <= 2 * published.size(); n++) {
      String token = "E-" + n;
      TopicImage before = end.image;
      After after = scripts.take(before, token);
      end.image = after.image();
      if (after.reply().size() <= 5) {
        break;
      }
      String id = new String((byte[]) after.reply().get(5), ISO_8859_1);
      int version = version((byte[]) after.reply().get(9));
      end.tookOnce(version, 1);
      checkTaken(before, end, id, version);
      end.image =
          scripts.ack(end.image, "E", n + 2L, Sent.FIRST, new Handled(id, version, token)).image();
      end.handled(id, version);
    }
    String wrong = end.wrong == null ? atTheEnd(end) : end.wrong;
    if (wrong != null) {
      path.addLast("(consumers killed, the rest handled)");
      violated(wrong);
      path.removeLast();
    }
  }

  private @Nullable String atTheEnd(TopicCast end) {
    for (Map.Entry<String, Integer> of : TopicCast.newest(published, end.acknowledged).entrySet()) {
      List<Integer> handled = end.handled.getOrDefault(of.getKey(), List.of());
      if (handled.stream().noneMatch(version -> version >= of.getValue())) {
        return "LOST: version %d of %s, handled were %s"
            .formatted(of.getValue(), of.getKey(), handled);
      }
      if (end.refusedOnce.isEmpty() && handled.get(handled.size() - 1) < of.getValue()) {
        return "OUT OF ORDER: handled %s of %s".formatted(handled, of.getKey());
      }
    }
    for (int refused : end.toldRefused) {
      if (end.handled.getOrDefault(published.get(refused), List.of()).contains(refused + 1)) {
        return "REFUSED, and handled: version " + (refused + 1);
      }
    }
    for (String key : List.of("msg", "held", "claim", "lease", "behind", "due", "lane:g")) {
      if (end.image.keys().containsKey(key)) {
        return "STRANDED: " + key + " " + end.image.keys().get(key);
      }
    }
    return null;
  }
}
