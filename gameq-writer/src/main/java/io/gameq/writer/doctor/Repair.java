package io.gameq.writer.doctor;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.OwnKey;
import io.gameq.redis.script.SlotContents.Progress;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Mends what a {@link Doctor} found, while nodes and writers work: by a script that first looks
 * whether it is still so. No row is deleted, and none is put over a newer one: what cannot be
 * mended without that is left, and told. What is done is in the audit log before. One thread.
 */
public final class Repair {
  /** What one thing hid shows with the next look: of three things behind each other, all. */
  private static final int MOST_ROUNDS = 4;

  private static final int MOST_NAMED = 5;

  private final String namespace;
  private final Slots slots;
  private final ControlConnection redis;
  private final MySql mysql;
  private final Doctor doctor;

  /** With connections that others close; the one to Redis is used by nothing else meanwhile. */
  public Repair(
      String namespace, Slots slots, ControlConnection redis, MySql mysql, Doctor doctor) {
    this.namespace = namespace;
    this.slots = slots;
    this.redis = redis;
    this.mysql = mysql;
    this.doctor = doctor;
  }

  /**
   * What became of it.
   *
   * @param mended how many of each
   * @param left what was found by the last look, and not mended
   */
  public record Repaired(Map<Ailment, Integer> mended, Diagnosis left) {}

  /**
   * Mends what was found, looks again, and so on, until nothing is left that can be mended.
   *
   * @param progress told how far each look is
   * @throws GameQueueException when a server does not answer: what was mended stays mended
   */
  public Repaired run(Diagnosis found, Actor actor, Consumer<Progress> progress)
      throws InterruptedException {
    Map<Ailment, Integer> mended = new EnumMap<>(Ailment.class);
    Diagnosis left = found;
    for (int round = 1; round <= MOST_ROUNDS; round++) {
      int before = total(mended);
      for (Map.Entry<Ailment, List<DoctorFinding>> of : left.byAilment().entrySet()) {
        if (of.getKey().isMended()) {
          AuditTable.add(mysql, actor, "doctor repair", of.getKey().title(), names(of.getValue()));
          int some = (int) of.getValue().stream().filter(this::mend).count();
          mended.merge(of.getKey(), some, Integer::sum);
        }
      }
      if (total(mended) == before) {
        break;
      }
      left = doctor.examine(progress);
    }
    mended.values().removeIf(count -> count == 0);
    return new Repaired(mended, left);
  }

  private static int total(Map<Ailment, Integer> of) {
    return of.values().stream().mapToInt(Integer::intValue).sum();
  }

  private static String names(List<DoctorFinding> some) {
    return some.size()
        + ": "
        + some.stream()
            .limit(MOST_NAMED)
            .map(DoctorFinding::where)
            .collect(Collectors.joining("; "));
  }

  private boolean mend(DoctorFinding finding) {
    String suffix = Long.toString(System.currentTimeMillis());
    boolean needsOwner =
        finding.ailment() == Ailment.UNOWNED || finding.ailment() == Ailment.CLAIMED_WITHOUT_CLAIM;
    SessionId durable = needsOwner ? lastOpen(finding) : null;
    if (finding.ailment() == Ailment.UNOWNED && durable == null) {
      return false; // nobody may write these rows: they stay, and are told of
    }
    boolean mended = redis.call(of -> finding.symptom().mend(of, namespace, suffix, durable));
    if (mended && finding.ailment() == Ailment.UNOWNED && durable != null) {
      OwnerId owner = finding.owner();
      boolean unused = // as a writer does that finds them; refused where a newer one owns
          redis.call(of -> OwnKey.reassert(of, slots.of(owner), owner, durable));
    }
    return mended;
  }

  /** The last session of the owner that was open, by MySQL. */
  private @Nullable SessionId lastOpen(DoctorFinding finding) {
    OwnerId owner;
    try {
      owner = finding.owner();
    } catch (GameQueueException e) { // no owner's name
      return null;
    }
    CountingSessions sessions = new OwnerTable(mysql).current(List.of(owner)).get(owner);
    return sessions == null ? null : sessions.lastOpen();
  }
}
