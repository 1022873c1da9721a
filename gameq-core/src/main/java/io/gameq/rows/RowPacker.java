package io.gameq.rows;

import java.io.IOException;
import java.util.Arrays;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.buffer.MessageBuffer;
import org.msgpack.core.buffer.MessageBufferOutput;

/** Packs one row after the other into an array that it keeps. Not thread-safe. */
final class RowPacker implements MessageBufferOutput {
  private static final int FIRST_BYTES = 1 << 10;

  /** What a rare large row grew is not kept. */
  private static final int KEPT_BYTES = 1 << 16;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int length;
  private MessagePacker packer = MessagePack.newDefaultPacker(this);
  private boolean packing;

  /** A packer for the next row, up to {@link #end}. */
  MessagePacker begin() {
    if (packing) { // the last row was refused half-way: its rest is in the packer
      packer = MessagePack.newDefaultPacker(this);
    }
    packing = true;
    length = 0;
    return packer;
  }

  /** The bytes of the row. */
  byte[] end() throws IOException {
    packer.flush();
    packing = false;
    byte[] row = Arrays.copyOf(bytes, length);
    if (bytes.length > KEPT_BYTES) {
      bytes = new byte[FIRST_BYTES];
    }
    return row;
  }

  private void room(int more) {
    if (bytes.length - length < more) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
    }
  }

  @Override
  public MessageBuffer next(int minimumSize) {
    room(minimumSize);
    return MessageBuffer.wrap(bytes, length, bytes.length - length);
  }

  @Override
  public void writeBuffer(int written) {
    length += written;
  }

  @Override
  public void write(byte[] buffer, int offset, int size) {
    room(size);
    System.arraycopy(buffer, offset, bytes, length, size);
    length += size;
  }

  @Override
  public void add(byte[] buffer, int offset, int size) {
    write(buffer, offset, size);
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
