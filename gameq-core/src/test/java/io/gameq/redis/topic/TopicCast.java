package io.gameq.redis.topic;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What all remember who use a topic in the explorer, what they have left to do, and what has become
 * of each version; with what Redis holds it is a state. Copied for each step.
 */
final class TopicCast {
  static final int CONSUMERS = 2;

  TopicImage image = TopicImage.EMPTY;

  // The publisher: what it sends next, what it has no answer of (and what that will be), what it
  // sends again.
  int next;
  List<Integer> unanswered = List.of();
  TreeSet<Integer> refusedByRedis = new TreeSet<>();
  TreeSet<Integer> refusedOnce = new TreeSet<>();
  List<Integer> again = List.of();
  TreeSet<Integer> acknowledged = new TreeSet<>();
  TreeSet<Integer> toldRefused = new TreeSet<>();

  // What each consumer holds, and whether it waits for the answer of an acknowledgement.
  final String[] token = new String[CONSUMERS];
  final String[] id = new String[CONSUMERS];
  final int[] version = new int[CONSUMERS];
  final boolean[] unsure = new boolean[CONSUMERS];
  final boolean[] arrived = new boolean[CONSUMERS];
  final int[] takes = new int[CONSUMERS];
  final int[] acks = new int[CONSUMERS];

  // What may still go wrong.
  int refusals;
  int breaks;
  int lapses;
  int nacks;
  int lostAcks;
  int kills;

  /** How often each version was taken, less how often its lease ran out or it was given back. */
  TreeMap<Integer, Integer> taken = new TreeMap<>();

  /** The versions that were acknowledged, in order, by message. */
  TreeMap<String, List<Integer>> handled = new TreeMap<>();

  @Nullable String wrong;

  /** How much may go wrong. */
  TopicCast(int refusals, int breaks, int lapses, int nacks, int lostAcks) {
    this.refusals = refusals;
    this.breaks = breaks;
    this.lapses = lapses;
    this.nacks = nacks;
    this.lostAcks = lostAcks;
    Arrays.fill(token, "");
    Arrays.fill(id, "");
  }

  /** And how many consumers are killed before they hear whether an acknowledgement counts. */
  TopicCast kills(int most) {
    kills = most;
    return this;
  }

  TopicCast copy() {
    TopicCast copy = new TopicCast(refusals, breaks, lapses, nacks, lostAcks);
    copy.kills = kills;
    copy.image = image;
    copy.next = next;
    copy.unanswered = unanswered;
    copy.refusedByRedis = new TreeSet<>(refusedByRedis);
    copy.refusedOnce = new TreeSet<>(refusedOnce);
    copy.again = again;
    copy.acknowledged = new TreeSet<>(acknowledged);
    copy.toldRefused = new TreeSet<>(toldRefused);
    for (int c = 0; c < CONSUMERS; c++) {
      copy.token[c] = token[c];
      copy.id[c] = id[c];
      copy.version[c] = version[c];
      copy.unsure[c] = unsure[c];
      copy.arrived[c] = arrived[c];
      copy.takes[c] = takes[c];
      copy.acks[c] = acks[c];
    }
    copy.taken = new TreeMap<>(taken);
    copy.handled = new TreeMap<>(handled);
    copy.wrong = wrong;
    return copy;
  }

  boolean holds(int consumer) {
    return !token[consumer].isEmpty();
  }

  void release(int consumer) {
    token[consumer] = "";
    id[consumer] = "";
    version[consumer] = 0;
    unsure[consumer] = false;
    arrived[consumer] = false;
  }

  void tookOnce(int ofVersion, int more) {
    taken.merge(ofVersion, more, Integer::sum);
  }

  void handled(String message, int ofVersion) {
    handled(message, ofVersion, handled.getOrDefault(message, List.of()).size());
  }

  /**
   * A replay says so of one that was killed: before what is newer. Another one may have handled it
   * too: whose rows count is MySQL's to decide.
   */
  void handledBefore(String message, int ofVersion) {
    List<Integer> all = handled.getOrDefault(message, List.of());
    if (!all.contains(ofVersion)) {
      handled(message, ofVersion, (int) all.stream().filter(one -> one < ofVersion).count());
    }
  }

  private void handled(String message, int ofVersion, int place) {
    List<Integer> all = new ArrayList<>(handled.getOrDefault(message, List.of()));
    if (all.contains(ofVersion)) {
      wrong = "ACKNOWLEDGED TWICE: version " + ofVersion;
    }
    all.add(place, ofVersion);
    handled.put(message, List.copyOf(all));
  }

  boolean publisherIsDone(int publishes) {
    return next == publishes && unanswered.isEmpty() && again.isEmpty();
  }

  /** Equal for states that behave alike. */
  String key() {
    return image.keys()
        + "|"
        + next
        + unanswered
        + refusedByRedis
        + refusedOnce
        + again
        + acknowledged
        + toldRefused
        + "|"
        + Arrays.toString(token)
        + Arrays.toString(id)
        + Arrays.toString(version)
        + Arrays.toString(unsure)
        + Arrays.toString(arrived)
        + Arrays.toString(takes)
        + Arrays.toString(acks)
        + "|"
        + refusals
        + breaks
        + lapses
        + nacks
        + lostAcks
        + kills
        + taken
        + handled;
  }

  /** Equal for states that end alike when every consumer is killed. */
  String endKey() {
    return image.keys() + "|" + acknowledged + toldRefused + refusedOnce + taken + handled;
  }

  static Map<String, Integer> newest(List<String> published, Set<Integer> acknowledged) {
    Map<String, Integer> newest = new TreeMap<>();
    acknowledged.forEach(i -> newest.put(published.get(i), i + 1));
    return newest;
  }
}
