package io.gameq.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/** Arguments of a command that are bytes already, without an object for each. Not thread-safe. */
public final class BytesArgs extends CommandArgs<byte[], byte[]> {
  private byte[][] args;
  private int count;

  public BytesArgs(int expected) {
    super(ByteArrayCodec.INSTANCE);
    args = new byte[expected][];
  }

  public BytesArgs and(byte[] arg) {
    if (count == args.length) {
      args = Arrays.copyOf(args, 2 * count + 1);
    }
    args[count++] = arg;
    return this;
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public void encode(ByteBuf buf) {
    for (int i = 0; i < count; i++) {
      buf.writeByte('$');
      number(buf, args[i].length);
      buf.writeByte('\r');
      buf.writeByte('\n');
      buf.writeBytes(args[i]);
      buf.writeByte('\r');
      buf.writeByte('\n');
    }
  }

  private static void number(ByteBuf buf, int value) {
    if (value >= 10) {
      number(buf, value / 10);
    }
    buf.writeByte('0' + value % 10);
  }
}
