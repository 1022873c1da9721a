package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.change.SlotMessages;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageId;
import java.util.ArrayList;
import java.util.List;

/** The messages of a commit, to and from bytes (see the package comment). Stateless. */
final class MessageCodec {
  private static final int PUBLISH = 1;
  private static final int RETIME = 2;
  private static final int DELETE = 3;
  private static final int ACK = 4;
  private static final int ACK_OF_OCCURRENCE = 5;

  private MessageCodec() {}

  static void write(BodyWriter to, List<SlotMessages> messages) {
    to.number(messages.size());
    for (SlotMessages of : messages) {
      to.number(of.slot());
      int changes = 0;
      for (MessageChange change : of.changes()) {
        changes += isKept(change) ? 1 : 0;
      }
      to.number(changes);
      for (MessageChange change : of.changes()) {
        if (isKept(change)) {
          write(to, change);
        }
      }
    }
  }

  /** What a commit expects is for the living commit alone. */
  private static boolean isKept(MessageChange change) {
    return !(change instanceof MessageChange.Expect);
  }

  private static void write(BodyWriter to, MessageChange change) {
    if (change instanceof MessageChange.Publish publish) {
      begin(to, PUBLISH, change);
      to.number(publish.dueMillis());
      to.number(publish.keepsTime() ? 1 : 0);
      to.number(publish.capMillis());
      to.block(publish.value());
    } else if (change instanceof MessageChange.Retime retime) {
      begin(to, RETIME, change);
      to.number(retime.dueMillis());
    } else if (change instanceof MessageChange.Delete) {
      begin(to, DELETE, change);
    } else if (change instanceof MessageChange.Ack ack) {
      boolean recurs = ack.occurrenceMillis() != 0;
      begin(to, recurs ? ACK_OF_OCCURRENCE : ACK, change);
      to.number(ack.handledVersion());
      to.text(ack.token());
      to.number(ack.nextDueMillis());
      if (recurs) {
        to.number(ack.occurrenceMillis());
      }
    }
  }

  private static void begin(BodyWriter to, int kind, MessageChange change) {
    to.number(kind);
    to.text(change.id().topic());
    to.text(change.id().id());
  }

  static List<SlotMessages> read(BodyReader body) {
    int slots = body.count();
    List<SlotMessages> messages = new ArrayList<>(slots);
    for (int i = 0; i < slots; i++) {
      int slot = (int) body.number();
      int count = body.count();
      List<MessageChange> changes = new ArrayList<>(count);
      for (int change = 0; change < count; change++) {
        changes.add(change(body, slot));
      }
      messages.add(new SlotMessages(slot, changes));
    }
    return messages;
  }

  private static MessageChange change(BodyReader body, int slot) {
    int kind = (int) body.number();
    MessageId id = new MessageId(body.text(), body.text());
    return switch (kind) {
      case PUBLISH ->
          new MessageChange.Publish(
              id, slot, body.number(), body.number() == 1, body.number(), body.block());
      case RETIME -> new MessageChange.Retime(id, slot, body.number());
      case DELETE -> new MessageChange.Delete(id, slot);
      case ACK -> new MessageChange.Ack(id, slot, body.number(), body.text(), body.number());
      case ACK_OF_OCCURRENCE ->
          new MessageChange.Ack(
              id, slot, body.number(), body.text(), body.number(), body.number(), null);
      default -> throw new WalException("a change of a message of an unknown kind, " + kind);
    };
  }
}
