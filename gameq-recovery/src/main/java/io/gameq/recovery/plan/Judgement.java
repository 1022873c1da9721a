package io.gameq.recovery.plan;

/**
 * What became of a row.
 *
 * @param reason empty unless the status needs one
 * @param restoresSession whether MySQL lost the session, and replay restores it
 */
public record Judgement(Status status, String reason, boolean restoresSession) {
  static Judgement of(Status status) {
    return new Judgement(status, "", false);
  }

  static Judgement of(Status status, String reason) {
    return new Judgement(status, reason, false);
  }
}
