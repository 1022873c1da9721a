package io.gameq.writer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gameq.servers.FaultProxy;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A proxy in front of the test Redis that looks at what is sent: it can hold what the sender sends,
 * cut at a KILL, delay the reply of a re-assert, and hide which server it is. Thread-safe.
 */
final class RedisTap implements AutoCloseable {
  final CountDownLatch reasserted = new CountDownLatch(1);
  final AtomicInteger cutOnKill = new AtomicInteger();
  final AtomicInteger kills = new AtomicInteger();
  volatile boolean slowReassert;
  volatile boolean hidesRunId;
  private final List<FaultProxy.Link> senders = new CopyOnWriteArrayList<>();
  private final FaultProxy proxy = FaultProxy.ofRedis(Sight::new);

  String uri() {
    return proxy.uri();
  }

  void holdSender() {
    senders.forEach(FaultProxy.Link::hold);
  }

  void cutSender() {
    senders.forEach(FaultProxy.Link::cut);
  }

  void release() {
    proxy.releaseHeld();
  }

  @Override
  public void close() {
    proxy.close();
  }

  private final class Sight implements FaultProxy.Observer {
    private boolean loadedReassert;
    private volatile long repliesFrom;

    @Override
    public boolean request(FaultProxy.Link link, byte[] buffer, int length) throws IOException {
      String text = new String(buffer, 0, length, ISO_8859_1);
      if (text.contains("MULTI") && !senders.contains(link)) {
        senders.add(link);
      }
      if (text.contains("KILL")) {
        kills.incrementAndGet();
        if (cutOnKill.get() > 0) {
          cutOnKill.decrementAndGet();
          link.cut();
          return false;
        }
      }
      if (loadedReassert && text.contains("EVALSHA")) {
        loadedReassert = false;
        slowReassert = false;
        repliesFrom = System.nanoTime() + TimeUnit.SECONDS.toNanos(4);
        link.send(buffer, length);
        reasserted.countDown();
        return false;
      }
      if (slowReassert && text.contains(" reassert.lua")) {
        loadedReassert = true;
      }
      return true;
    }

    @Override
    public void reply(byte[] buffer, int length) {
      for (long left; repliesFrom != 0 && (left = repliesFrom - System.nanoTime()) > 0; ) {
        LockSupport.parkNanos(left);
      }
      if (hidesRunId) { // as long as it was: a reply begins with its length
        byte[] hidden =
            new String(buffer, 0, length, ISO_8859_1)
                .replace("run_id:", "hidden:")
                .getBytes(ISO_8859_1);
        System.arraycopy(hidden, 0, buffer, 0, length);
      }
    }
  }
}
