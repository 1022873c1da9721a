package io.gameq.writer.explorer;

import io.gameq.redis.ChannelListener;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** What the acks of one world publish to nodes A and B. Used by the explorer's thread. */
final class Notices implements AutoCloseable {
  private static final List<String> PROCESSES = List.of("aaaaaaaa", "bbbbbbbb");
  private static final String LAST = "nobody";
  private static final long PATIENCE_SECONDS = 30;

  private final RedisConnection redis;
  private final String namespace;
  private final BlockingQueue<Notice> heard = new LinkedBlockingQueue<>();
  private final List<ChannelListener> subscriptions = new ArrayList<>();

  Notices(RedisConnector connector, RedisConnection redis, String namespace) {
    this.redis = redis;
    this.namespace = namespace;
    for (String process : PROCESSES) {
      ChannelListener subscription =
          ChannelListener.ofProcess(
              connector,
              namespace,
              process,
              (owner, session, version, setAside, kept) ->
                  heard.add(new Notice(owner, session, version)));
      subscription.keep();
      subscriptions.add(subscription);
    }
  }

  /** Everything that was published since the last call. */
  List<Notice> published() {
    List<Notice> published = new ArrayList<>();
    for (String process : PROCESSES) {
      redis
          .sync()
          .publish(
              RedisImage.bytes(namespace + ":durable:" + process), RedisImage.bytes(LAST + " - 0"));
    }
    for (int last = 0; last < PROCESSES.size(); ) {
      Notice next = next();
      if (next.owner().equals(LAST)) {
        last++;
      } else {
        published.add(next);
      }
    }
    return published;
  }

  private Notice next() {
    try {
      Notice next = heard.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (next == null) {
        throw new IllegalStateException("a notice does not arrive");
      }
      return next;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    subscriptions.forEach(ChannelListener::close);
  }
}
