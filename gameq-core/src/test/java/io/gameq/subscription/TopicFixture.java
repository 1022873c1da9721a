package io.gameq.subscription;

import io.gameq.GameQueue;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.node.TestNodes;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.Waits;
import io.gameq.topic.Delivery;
import io.gameq.topic.MessageHandler;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A database, a namespace, and nodes on them, for tests of topics. */
final class TopicFixture {
  private final GameDatabase database;
  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);

  TopicFixture() {
    try {
      database =
          GameDatabase.create("topic")
              .table(
                  "purse",
                  "player",
                  "player_id",
                  "player_id BIGINT NOT NULL PRIMARY KEY, gold BIGINT NOT NULL");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  String namespace() {
    return namespace;
  }

  GameQueue node(String name, Path walDirectory) {
    return GameQueue.open(config(name, walDirectory).build());
  }

  GameQueueConfigBuilder config(String name, Path walDirectory) {
    return TestNodes.on(database)
        .namespace(namespace)
        .node(name)
        .slots(4)
        .walDirectory(walDirectory.resolve(name));
  }

  /** A handler that keeps what it gets, for a test to look at. */
  static final class Inbox<T> implements MessageHandler<T> {
    private final BlockingQueue<Delivery<T>> deliveries = new LinkedBlockingQueue<>();

    @Override
    public void handle(Delivery<T> delivery) {
      deliveries.add(delivery);
    }

    /** The next one; waits for it. */
    Delivery<T> next() throws InterruptedException {
      Delivery<T> next = deliveries.poll(Waits.LONG.toMillis(), TimeUnit.MILLISECONDS);
      if (next == null) {
        throw new AssertionError("no message came");
      }
      return next;
    }

    /** The keys of the next ones, in their order. */
    List<String> keys(int count) throws InterruptedException {
      List<String> keys = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        keys.add(next().key());
      }
      return keys;
    }

    boolean isEmpty() {
      return deliveries.isEmpty();
    }
  }
}
