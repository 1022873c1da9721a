package io.gameq.writer.campaign;

import io.gameq.writer.campaign.Violation.Kind;
import io.gameq.writer.campaign.messages.MessageOutcome;
import java.util.List;

/** A line of the campaign's table; immutable. */
record CaseResult(
    String fault,
    long seed,
    int times,
    long acknowledged,
    long reads,
    double drainSeconds,
    List<Violation> violations,
    SentOutcome sent,
    MessageOutcome messages) {
  long count(Kind kind) {
    return violations.stream().filter(violation -> violation.kind() == kind).count();
  }
}
