package io.gameq.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several changes of one message in one commit. */
class FoldedMessagesTest {
  private static final MessageId ID = MessageId.of("mail", null, "a");
  private static final byte[] FIRST = {1};
  private static final byte[] SECOND = {2};

  private static MessageChange.Publish publish(byte[] value, long due, boolean keepsTime) {
    return new MessageChange.Publish(ID, 1, due, keepsTime, 0, value);
  }

  private static MessageChange.Publish only(MessageChange... changes) {
    List<MessageChange> folded = FoldedMessages.of(List.of(changes));
    assertEquals(1, folded.size());
    return (MessageChange.Publish) folded.get(0);
  }

  @Test
  void theLaterPayloadCountsAndTheEarlierTimeWhereItIsKept() {
    MessageChange.Publish merged = only(publish(FIRST, 10, true), publish(SECOND, 20, true));
    assertEquals(10, merged.dueMillis());
    assertSame(SECOND, merged.value());
    assertEquals(20, only(publish(FIRST, 10, true), publish(SECOND, 20, false)).dueMillis());
    assertEquals(
        30, only(publish(FIRST, 10, true), new MessageChange.Retime(ID, 1, 30)).dueMillis());
  }

  @Test
  void whatIsPublishedAfterADeleteKeepsNothingOfTheDeleted() {
    MessageChange.Publish anew =
        only(publish(FIRST, 10, true), new MessageChange.Delete(ID, 1), publish(SECOND, 20, true));
    assertEquals(20, anew.dueMillis());
    assertEquals(false, anew.keepsTime());
    MessageChange delete = new MessageChange.Delete(ID, 1);
    assertEquals(List.of(delete), FoldedMessages.of(List.of(publish(FIRST, 1, true), delete)));
    assertEquals(
        List.of(delete), FoldedMessages.of(List.of(delete, new MessageChange.Retime(ID, 1, 30))));
  }

  @Test
  void acknowledgementsComeFirstAndARetimeStaysBeforeThePublishThatMayKeepItsTime() {
    MessageChange ack = new MessageChange.Ack(ID, 1, 5, "token", 0);
    MessageChange retime = new MessageChange.Retime(ID, 1, 30);
    MessageChange publish = publish(SECOND, 40, true);
    assertEquals(List.of(ack, retime, publish), FoldedMessages.of(List.of(retime, publish, ack)));
  }
}
