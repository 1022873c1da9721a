package io.gameq.topic;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.gameq.GameQueueException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * As crontab says: minute, hour, day of month, month, day of week, in a zone. Immutable; equal when
 * fields and zone are.
 */
final class CronRhythm implements Rhythm {
  /** Parsed once: each occurrence of a message brings its expression again. */
  private static final Map<String, CronRhythm> PARSED = new ConcurrentHashMap<>();

  /** Then all are parsed anew: few games have as many. */
  private static final int MOST_PARSED = 1_000;

  private final String fields;
  private final ZoneId zone;
  private final ExecutionTime times;

  private CronRhythm(String fields, ZoneId zone) {
    this.fields = fields;
    this.zone = zone;
    try {
      this.times =
          ExecutionTime.forCron(
              new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX))
                  .parse(fields)
                  .validate());
    } catch (IllegalArgumentException e) {
      throw new GameQueueException(
          "not a cron expression of minute, hour, day of month, month, day of week: '%s': %s"
              .formatted(fields, e.getMessage()),
          e);
    }
  }

  /** Throws GameQueueException when the fields are malformed. */
  static CronRhythm of(String fields, ZoneId zone) {
    String key = zone + " " + fields;
    CronRhythm known = PARSED.get(key);
    if (known == null) {
      known = new CronRhythm(fields, zone);
      if (PARSED.size() >= MOST_PARSED) {
        PARSED.clear();
      }
      PARSED.put(key, known);
    }
    return known;
  }

  String fields() {
    return fields;
  }

  ZoneId zone() {
    return zone;
  }

  @Override
  public long first(long from, long now) {
    long time = Math.max(from, now) - 1; // that time itself may be one
    return after(time, time);
  }

  @Override
  public long after(long occurrence, long time) {
    return times
        .nextExecution(Instant.ofEpochMilli(time).atZone(zone))
        .map(next -> next.toInstant().toEpochMilli())
        .orElse(0L);
  }

  @Override
  public boolean occursAt(long time) {
    return after(time - 1, time - 1) == time;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CronRhythm of && of.fields.equals(fields) && of.zone.equals(zone);
  }

  @Override
  public int hashCode() {
    return fields.hashCode() * 31 + zone.hashCode();
  }
}
