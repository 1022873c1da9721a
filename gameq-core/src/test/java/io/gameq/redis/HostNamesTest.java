package io.gameq.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.redis.RedisConnector.HostNames;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HostNamesTest {
  private static final int TTL_SECONDS = 600;

  @Test
  void eachConnectionAsksAgainWhateverTheTimeToLive() throws Exception {
    AtomicInteger lastByte = new AtomicInteger(1);
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try (DatagramSocket server = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        DnsAddressResolverGroup names =
            HostNames.resolver(
                new SingletonDnsServerAddressStreamProvider(
                    (InetSocketAddress) server.getLocalSocketAddress()))) {
      Thread serves = new Thread(() -> serve(server, lastByte));
      serves.start();
      assertEquals("127.0.0.1", resolve(names, loops));
      lastByte.set(2);
      assertEquals("127.0.0.2", resolve(names, loops));
    } finally {
      loops.shutdownGracefully();
    }
  }

  private static String resolve(DnsAddressResolverGroup names, EventLoopGroup loops)
      throws InterruptedException {
    return names
        .getResolver(loops.next())
        .resolve(InetSocketAddress.createUnresolved("redis.test", 6379))
        .sync()
        .getNow()
        .getAddress()
        .getHostAddress();
  }

  /** Answers with 127.0.0.x, until the socket is closed. */
  private static void serve(DatagramSocket server, AtomicInteger lastByte) {
    byte[] buffer = new byte[512];
    try {
      while (true) {
        DatagramPacket asked = new DatagramPacket(buffer, buffer.length);
        server.receive(asked);
        byte[] answer = answer(ByteBuffer.wrap(buffer), lastByte.get());
        server.send(new DatagramPacket(answer, answer.length, asked.getSocketAddress()));
      }
    } catch (IOException e) {
      // closed
    }
  }

  /** RFC 1035, 4.1: header, the question again, and one address where one is asked for. */
  private static byte[] answer(ByteBuffer asked, int lastByte) {
    int nameBytes = "Xredis".length() + "Xtest".length() + 1;
    byte[] question = new byte[nameBytes + 4];
    short id = asked.getShort();
    asked.position(12);
    asked.get(question);
    assertEquals("redis", new String(question, 1, 5, US_ASCII));
    boolean isOfIpv4 = question[nameBytes + 1] == 1;
    ByteBuffer answer = ByteBuffer.allocate(12 + question.length + (isOfIpv4 ? 16 : 0));
    answer.putShort(id).putShort((short) 0x8180).putShort((short) 1);
    answer.putShort((short) (isOfIpv4 ? 1 : 0)).putInt(0).put(question);
    if (isOfIpv4) {
      answer.putShort((short) 0xC00C).putShort((short) 1).putShort((short) 1).putInt(TTL_SECONDS);
      answer.putShort((short) 4).put(new byte[] {127, 0, 0, (byte) lastByte});
    }
    return answer.array();
  }
}
