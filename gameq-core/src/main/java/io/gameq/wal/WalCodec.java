package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;

/** Bodies of records, to and from bytes (see the package comment). Stateless. */
final class WalCodec {
  static final int FORMAT = 4;

  private static final int HEADER = 0;
  private static final int COMMIT = 1;
  private static final int FAILED = 2;
  private static final int ADOPTED = 3;
  private static final int LAYOUT = 4;
  private static final int CARRIED = 5;
  private static final int COMMIT_WITH_MESSAGES = 6;

  private WalCodec() {}

  /** Writes the body of one record. */
  interface Body {
    void write(BodyWriter to);
  }

  static Body header(WalRecord.Header header) {
    return to -> {
      to.begin(HEADER);
      to.number(header.format());
      to.text(header.walId());
      to.text(header.namespace());
      to.number(header.slots());
      to.text(header.node());
      to.number(header.startMillis());
      to.text(header.database());
    };
  }

  static Body commit(Commit commit) {
    boolean hasMessages = !commit.messages().isEmpty();
    return to -> {
      to.begin(hasMessages ? COMMIT_WITH_MESSAGES : COMMIT);
      if (hasMessages) {
        to.number(commit.version());
      }
      to.number(commit.parts().size());
      for (CommitPart part : commit.parts()) {
        writePart(to, part);
      }
      if (hasMessages) {
        MessageCodec.write(to, commit.messages());
      }
    };
  }

  static Body failed(long sequence) {
    return to -> {
      to.begin(FAILED);
      to.number(sequence);
    };
  }

  static Body adopted(CommitPart part) {
    return to -> {
      to.begin(ADOPTED);
      writePart(to, part);
    };
  }

  static Body layout(WalRecord.Layout layout) {
    return to -> {
      to.begin(LAYOUT);
      to.text(layout.table());
      to.number(layout.fingerprint());
      to.text(layout.columns());
    };
  }

  /** A record again: {@code body} is what it held the first time. */
  static Body carried(long sequence, byte[] body) {
    return to -> {
      to.begin(CARRIED);
      to.number(sequence);
      to.raw(body);
    };
  }

  /** What a record is the first of, or carries. */
  record First(long sequence, int bodyFrom) {}

  /** Which record this is, at which {@code place}, or which one it carries. */
  static First first(byte[] bytes, int from, int end, long place) {
    BodyReader body = new BodyReader(bytes, from, end);
    return body.number() == CARRIED ? new First(body.number(), body.at()) : new First(place, from);
  }

  private static void writePart(BodyWriter to, CommitPart part) {
    to.text(part.session().owner().encoded());
    to.text(part.session().text());
    to.number(part.rows().size());
    for (ChangedRow row : part.rows()) {
      to.block(row.keyBytes());
      to.block(row.image());
    }
  }

  /**
   * Reads the body of a record whose checksum is right.
   *
   * @param place its sequence
   * @throws WalException when it is of a kind or form that this version does not know
   */
  static WalReader.Entry decode(byte[] bytes, int from, int end, long place) {
    try {
      First first = first(bytes, from, end, place);
      return new WalReader.Entry(
          first.sequence(), place, read(new BodyReader(bytes, first.bodyFrom(), end)));
    } catch (IndexOutOfBoundsException e) {
      throw new WalException("a record cannot be decoded: " + e.getMessage(), e);
    }
  }

  private static WalRecord read(BodyReader body) {
    int kind = (int) body.number();
    return switch (kind) {
      case HEADER ->
          new WalRecord.Header(
              (int) body.number(),
              body.text(),
              body.text(),
              (int) body.number(),
              body.text(),
              body.number(),
              body.isAtEnd() ? "" : body.text());
      case COMMIT -> new WalRecord.Committed(parts(body));
      case COMMIT_WITH_MESSAGES -> {
        long version = body.number();
        yield new WalRecord.Committed(parts(body), version, MessageCodec.read(body));
      }
      case FAILED -> new WalRecord.Failed(body.number());
      case ADOPTED -> new WalRecord.Adopted(part(body));
      case LAYOUT -> new WalRecord.Layout(body.text(), body.number(), body.text());
      default -> throw new WalException("a record of an unknown kind, " + kind);
    };
  }

  private static List<WalRecord.Part> parts(BodyReader body) {
    int count = body.count();
    List<WalRecord.Part> parts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      parts.add(part(body));
    }
    return parts;
  }

  private static WalRecord.Part part(BodyReader body) {
    String owner = body.text();
    String session = body.text();
    int count = body.count();
    List<EncodedRow> rows = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      rows.add(new EncodedRow(body.text(), body.block()));
    }
    return new WalRecord.Part(owner, session, rows);
  }
}
