package io.gameq.lab.contender.redis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.lab.load.Contender;
import io.gameq.lab.load.Load;
import io.gameq.lab.mysql.BenchTables;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.redis.RedisMemory;
import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.BenchRow;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RawRedisTest {
  private static final int SLOTS = 4;
  private static final int ACTIONS = 800;

  private final String namespace = "raw-test-" + Long.toHexString(System.nanoTime());
  private final Workload workload = new Workload(new Workload.Shape(7, 20, 0.5, 10, 3, 50, 0.1, 1));

  private interface Sending {
    void send(RowEncoding encoding) throws Exception;
  }

  @Test
  void theServerHoldsTheNewestImageOfEachRow() throws Exception {
    holdsTheNewestImages(
        encoding -> {
          RawRedis raw = new RawRedis(TestServers.adminRedisUri(), bytes(encoding));
          assertEquals(ACTIONS, load(raw).actions());
        });
  }

  @Test
  void thePlainClientSendsTheSame() throws Exception {
    holdsTheNewestImages(
        encoding -> {
          PlainClient plain = new PlainClient(TestServers.adminRedisUri(), bytes(encoding));
          assertEquals(ACTIONS, load(plain).actions());
        });
  }

  private CommitBytes bytes(RowEncoding encoding) {
    return new CommitBytes(encoding, namespace, SLOTS);
  }

  private Load.Result load(Contender limit) throws Exception {
    try (limit) {
      limit.prepare(workload, ACTIONS);
      return new Load(limit, workload.actions(), Load.Pace.pressure(RawRedis.COMMITS_IN_FLIGHT))
          .run(Load.Until.actions(ACTIONS));
    }
  }

  private void holdsTheNewestImages(Sending sending) throws Exception {
    MySqlServer server = TestServers.mysql().freshDatabase("raw");
    try (ScratchDatabase database = new ScratchDatabase(server.config(2));
        BenchTables tables = new BenchTables(database, workload.shape(), namespace, SLOTS)) {
      Table table = tables.table();
      sending.send(new RowEncoding(table));

      Map<String, RowImage> held = held(table);
      Model model = new Model(workload, new long[] {ACTIONS});
      assertEquals(model.distinctRows(), held.size());
      List<BenchRow> puts = new ArrayList<>();
      model.forEachRow(puts::add);
      assertEquals(puts.size(), held.values().stream().filter(of -> of.op() == RowOp.PUT).count());
      for (BenchRow row : puts) {
        Object[] values =
            Objects.requireNonNull(held.get(row.playerId() + "," + row.slot())).values();
        assertEquals(row.seq(), values[2]);
        assertArrayEquals(row.payload(), (byte[]) values[3]);
      }
    } finally {
      assertEquals(0, keysLeft());
    }
  }

  private Map<String, RowImage> held(Table table) {
    RowCodec codec = new RowCodec((name, print) -> null, Clock.systemUTC());
    Map<String, RowImage> held = new HashMap<>();
    try (RedisClient client = RedisClient.create(TestServers.adminRedisUri());
        StatefulRedisConnection<byte[], byte[]> redis = client.connect(ByteArrayCodec.INSTANCE)) {
      for (byte[] key : redis.sync().keys("{" + namespace + ":*}:dirty:*")) {
        redis
            .sync()
            .hgetall(key)
            .forEach(
                (field, image) ->
                    held.put(
                        new String(field, StandardCharsets.US_ASCII)
                            .substring(Workload.TABLE.length() + 1),
                        codec.decode(table, image)));
      }
    }
    return held;
  }

  private int keysLeft() {
    try (var redis = new RedisConnector(new RedisConfig(TestServers.adminRedisUri()));
        RedisMemory memory = new RedisMemory(redis)) {
      memory.delete(namespace);
    }
    try (StatefulRedisConnection<String, String> redis = TestServers.redis()) {
      return redis.sync().keys("*" + namespace + "*").size();
    }
  }

  @Test
  void aUriIsTakenApart() {
    RedisAddress plain = RedisAddress.of("redis://host");
    assertEquals("host", plain.host());
    assertEquals(6379, plain.port());
    assertEquals("0", plain.database());
    assertTrue(plain.login().isEmpty());
    RedisAddress full = RedisAddress.of("redis://app:secret@host:7000/3");
    assertEquals(7000, full.port());
    assertEquals("3", full.database());
    assertArrayEquals(new String[] {"AUTH", "app", "secret"}, full.login().orElseThrow());
    assertArrayEquals(
        new String[] {"AUTH", "secret"},
        RedisAddress.of("redis://:secret@host").login().orElseThrow());
    assertThrows(BenchException.class, () -> RedisAddress.of("redis-sentinel://a:1#primary"));
  }
}
