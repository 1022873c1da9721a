package io.gameq.wal;

import io.gameq.commit.ChangedRow;
import io.gameq.commit.CommitPart;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;

/**
 * Encodes and decodes WAL records (see the package comment). Not thread-safe: one per appender or
 * tailer.
 */
final class WalCodec {
  static final int FORMAT = 1;
  static final int ENVELOPE_BYTES = 16;

  private static final int MAGIC = 0x47515731; // "GQW1"
  private static final int HEADER = 0;
  private static final int COMMIT = 1;
  private static final int FAILED = 2;
  private static final int ADOPTED = 3;
  private static final int LAYOUT = 4;

  private final MessageBufferPacker packer = MessagePack.newDefaultBufferPacker();
  private final CRC32C crc = new CRC32C();

  /** Writes the body of one record. */
  interface Body {
    void pack(MessageBufferPacker packer) throws IOException;
  }

  static Body header(WalRecord.Header h) {
    return p -> {
      p.packArrayHeader(7)
          .packInt(HEADER)
          .packInt(h.format())
          .packString(h.walId())
          .packString(h.namespace());
      p.packInt(h.slots()).packString(h.node()).packLong(h.startMillis());
    };
  }

  static Body commit(List<CommitPart> parts) {
    return p -> {
      p.packArrayHeader(1 + parts.size()).packInt(COMMIT);
      for (CommitPart part : parts) {
        p.packArrayHeader(3);
        packPart(p, part);
      }
    };
  }

  static Body failed(long sequence) {
    return p -> p.packArrayHeader(2).packInt(FAILED).packLong(sequence);
  }

  static Body adopted(CommitPart part) {
    return p -> {
      p.packArrayHeader(4).packInt(ADOPTED);
      packPart(p, part);
    };
  }

  static Body layout(WalRecord.Layout layout) {
    return p ->
        p.packArrayHeader(4)
            .packInt(LAYOUT)
            .packString(layout.table())
            .packLong(layout.fingerprint())
            .packString(layout.columns());
  }

  private static void packPart(MessageBufferPacker p, CommitPart part) throws IOException {
    p.packString(part.session().owner().encoded()).packString(part.session().id().text());
    p.packArrayHeader(2 * part.rows().size());
    for (ChangedRow row : part.rows()) {
      p.packString(row.key()).packBinaryHeader(row.image().length).addPayload(row.image());
    }
  }

  /** The whole record, envelope and body. */
  byte[] encode(long sequence, Body body) {
    try {
      packer.clear();
      packer.writePayload(new byte[ENVELOPE_BYTES]);
      body.pack(packer);
      byte[] record = packer.toByteArray();
      ByteBuffer.wrap(record).putInt(MAGIC).putInt(0).putLong(sequence);
      crc.reset();
      crc.update(record, 8, record.length - 8);
      ByteBuffer.wrap(record).putInt(4, (int) crc.getValue());
      return record;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads one record back.
   *
   * @throws WalException when the envelope, the checksum or the body is damaged
   */
  WalReader.Entry decode(byte[] record) {
    ByteBuffer envelope = ByteBuffer.wrap(record);
    if (record.length < ENVELOPE_BYTES || envelope.getInt() != MAGIC) {
      throw new WalException(
          "a WAL record of " + record.length + " bytes does not begin with GQW1");
    }
    int expected = envelope.getInt();
    crc.reset();
    crc.update(record, 8, record.length - 8);
    if (expected != (int) crc.getValue()) {
      throw new WalException("a WAL record of " + record.length + " bytes has a wrong checksum");
    }
    long sequence = envelope.getLong();
    try (MessageUnpacker u =
        MessagePack.newDefaultUnpacker(record, ENVELOPE_BYTES, record.length - ENVELOPE_BYTES)) {
      return new WalReader.Entry(sequence, body(u));
    } catch (IOException | RuntimeException e) {
      throw new WalException("WAL record " + sequence + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static WalRecord body(MessageUnpacker u) throws IOException {
    int items = u.unpackArrayHeader();
    int kind = u.unpackInt();
    return switch (kind) {
      case HEADER ->
          new WalRecord.Header(
              u.unpackInt(),
              u.unpackString(),
              u.unpackString(),
              u.unpackInt(),
              u.unpackString(),
              u.unpackLong());
      case COMMIT -> {
        List<WalRecord.Part> parts = new ArrayList<>();
        for (int i = 1; i < items; i++) {
          u.unpackArrayHeader();
          parts.add(part(u));
        }
        yield new WalRecord.Committed(parts);
      }
      case FAILED -> new WalRecord.Failed(u.unpackLong());
      case ADOPTED -> new WalRecord.Adopted(part(u));
      case LAYOUT -> new WalRecord.Layout(u.unpackString(), u.unpackLong(), u.unpackString());
      default -> throw new WalException("unknown kind " + kind);
    };
  }

  private static WalRecord.Part part(MessageUnpacker u) throws IOException {
    String owner = u.unpackString();
    String session = u.unpackString();
    int rows = u.unpackArrayHeader() / 2;
    List<WalRecord.Row> list = new ArrayList<>(rows);
    for (int i = 0; i < rows; i++) {
      list.add(new WalRecord.Row(u.unpackString(), u.readPayload(u.unpackBinaryHeader())));
    }
    return new WalRecord.Part(owner, session, list);
  }
}
