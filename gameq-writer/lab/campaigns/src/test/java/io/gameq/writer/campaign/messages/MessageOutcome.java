package io.gameq.writer.campaign.messages;

import io.gameq.writer.campaign.messages.MessageViolation.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * What became of the messages of one case; immutable.
 *
 * @param published acknowledged publishes
 * @param handled messages of which a handler returned, or that were merged into such
 * @param twice handlers that ran once more: a lease had run out, or rows were refused
 * @param dead letters
 */
public record MessageOutcome(
    long published, long handled, long twice, long dead, List<MessageViolation> violations) {
  /** The same with more violations. */
  public MessageOutcome with(List<MessageViolation> more) {
    List<MessageViolation> all = new ArrayList<>(violations);
    all.addAll(more);
    return new MessageOutcome(published, handled, twice, dead, all);
  }

  public long count(Kind kind) {
    return violations.stream().filter(of -> of.kind() == kind).count();
  }

  /** Of all kinds without a column of their own. */
  public long others() {
    return violations.size() - count(Kind.LOST) - count(Kind.ORDER);
  }
}
