package io.gameq.redis.script;

import java.util.Map;

/**
 * What a process said of itself, and when. Immutable.
 *
 * @param id of this start of the process, 8 hex digits
 * @param silentMillis how long ago it said so, by the clock of Redis
 * @param beat the sign of life that it gives as a node: {@link Beat#NONE} where it gives none
 * @param fields what it said, by name
 */
public record ProcessSign(String id, long silentMillis, Beat beat, Map<String, String> fields) {
  /** Which kind of process it is, among the fields. */
  static final String KIND = "kind";

  /** The sign of life of a node. */
  public enum Beat {
    NONE,
    /** It has not healed on this Redis, which may not know its sessions. */
    UNHEALED,
    HEALED
  }

  public ProcessSign {
    fields = Map.copyOf(fields);
  }

  /** {@link ProcessSigns#NODE} or {@link ProcessSigns#WRITER}. */
  public String kind() {
    return fields.getOrDefault(KIND, "");
  }

  /** Whether it said something lately. */
  public boolean isFresh() {
    return silentMillis < NodeSigns.LIFE_SECONDS * 1_000L;
  }
}
