package io.gameq.writer.door;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What requests say, as JSON names it; null where it is left out. Stateless. */
final class DoorBodies {
  private DoorBodies() {}

  /** Several messages: all or none. */
  record Publishes(@Nullable List<PublishedBody> messages) {}

  /** How many, and how long to wait for the first. */
  record Takes(@Nullable Integer max, @Nullable Long waitMillis) {}

  /** Messages that were handled. */
  record Acknowledgements(@Nullable List<String> claims) {}

  /** Leases that are to end so long from now. */
  record Extensions(@Nullable List<String> claims, @Nullable Long leaseMillis) {}

  /** Messages that are to be tried again. */
  record Failures(
      @Nullable List<String> claims,
      @Nullable String error,
      @Nullable Long afterMillis,
      @Nullable Boolean counts) {}

  /** A topic's options. */
  record Definition(
      @Nullable Integer slots,
      @Nullable Integer payloadBytes,
      @Nullable Long ageingMillis,
      @Nullable Long windowMillis,
      @Nullable Long leaseMillis,
      @Nullable Attempts retry) {}

  /** When a message that failed is tried again. */
  record Attempts(
      @Nullable List<Long> delaysMillis, @Nullable Boolean jitter, @Nullable Integer attempts) {}
}
