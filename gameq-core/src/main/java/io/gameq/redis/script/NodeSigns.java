package io.gameq.redis.script;

import static io.gameq.redis.script.LuaScript.utf8;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.sign.ProcessIdentity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The signs of life that node processes give: {@code ns:node:<process>}, under the first 8 hex
 * digits of the nonces of their sessions. Plain commands. Stateless.
 */
public final class NodeSigns {
  /** A node that gave no sign for so long counts as gone. */
  public static final int LIFE_SECONDS = 15;

  /**
   * Follows the name of a node that has not healed on this server, which may not know its sessions.
   */
  static final String UNHEALED = "?";

  private static final int PROCESS_DIGITS = 8;

  private static final LuaScript UNBROKEN = LuaScript.of(NodeSigns.class, "unbroken.lua");

  /** A longer pause is a break. */
  private static final long BREAK_MILLIS = LIFE_SECONDS * 1_000L / 2;

  private NodeSigns() {}

  /** The id of the process that a session is of. */
  public static String process(SessionId session) {
    return session.nonce().substring(0, PROCESS_DIGITS);
  }

  /** The id of the process that a WAL is of. */
  public static String processOfWal(String walId) {
    return walId.substring(Math.max(0, walId.length() - PROCESS_DIGITS));
  }

  /** The name of the node of which this process (8 hex digits) is alive, or null. */
  public static @Nullable String aliveNode(
      RedisConnection redis, String namespace, String process) {
    String sign = sign(redis, namespace, process);
    return sign == null ? null : name(sign);
  }

  /**
   * Whether some node has given a sign of life a moment ago. Throws RedisUnavailableException when
   * Redis does not answer.
   */
  public static boolean anyLately(RedisConnection redis, String namespace) {
    return RedisReply.await(() -> redis.sync().exists(unbrokenKey(namespace))) > 0;
  }

  /**
   * Whether a node process gave a sign of life a moment ago and has healed on this server: then the
   * server knows of all sessions that it holds, unless it lost them since.
   */
  public static boolean isHealed(RedisConnection redis, String namespace, String process) {
    String sign = sign(redis, namespace, process);
    return sign != null && !sign.endsWith(UNHEALED);
  }

  /**
   * For how long this server has lost nothing as far as nodes noticed, ms: 0 when none gives signs
   * of life, or with their first healing here. Changes nothing.
   */
  public static long soundMillis(RedisConnection redis, String namespace) {
    byte[] since = RedisReply.await(() -> redis.sync().get(unbrokenKey(namespace)));
    return since == null ? 0 : RedisClock.now(redis) - Long.parseLong(LuaScript.string(since));
  }

  /**
   * For how long nodes have given signs of life here without a break, ms; to be called with each.
   */
  static long unbrokenMillis(RedisConnection redis, String namespace) {
    return (Long) UNBROKEN.call(redis, unbrokenKey(namespace), BREAK_MILLIS).get(0);
  }

  static byte[] unbrokenKey(String namespace) {
    return SlotKeys.bytes(namespace + ":nodes");
  }

  /** The sign of a process, which is its node's name and perhaps {@link #UNHEALED}; or null. */
  static @Nullable String sign(RedisConnection redis, String namespace, String process) {
    byte[] sign = RedisReply.await(() -> redis.sync().get(key(namespace, process)));
    return sign == null ? null : new String(sign, US_ASCII);
  }

  static String name(String sign) {
    return sign.endsWith(UNHEALED) ? sign.substring(0, sign.length() - UNHEALED.length()) : sign;
  }

  static byte[] key(String namespace, String process) {
    return SlotKeys.bytes(namespace + ":node:" + process);
  }

  /**
   * {@code beat.lua}: gives the signs of life of one node process, whose answers tell when Redis'
   * clock was set. Thread-safe; see {@link NodeSigns}.
   */
  public static final class NodeHeartbeat {
    private static final Logger LOG = LoggerFactory.getLogger(NodeHeartbeat.class);
    private static final LuaScript SCRIPT = LuaScript.of(NodeHeartbeat.class, "beat.lua");
    private static final LuaScript NAME = LuaScript.of(NodeHeartbeat.class, "name.lua");
    private static final long BEAT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final String namespace;
    private final byte[] key;
    private final String node;
    private final NameHolder self;
    private final byte[] nameKey;
    private final RedisClock clock;
    private volatile @Nullable NameHolder twin;
    private volatile long beatNanos = System.nanoTime() - BEAT_EVERY_NANOS;
    private volatile boolean hasBegun;

    /** The server on which this node healed last, by its run id. */
    private String beganOn = "";

    /**
     * The process that has the name of a node.
     *
     * @param process 8 hex digits
     */
    public record NameHolder(String process, String host) {
      static NameHolder parse(String text) {
        int space = text.indexOf(' ');
        return new NameHolder(text.substring(0, Math.max(0, space)), text.substring(space + 1));
      }

      String text() {
        return process + " " + host;
      }
    }

    /** Of a process; {@code clock} is told of the time of Redis. */
    public NodeHeartbeat(String namespace, String process, String node, RedisClock clock) {
      this.namespace = namespace;
      this.key = NodeSigns.key(namespace, process);
      this.node = node;
      this.self = new NameHolder(process, ProcessIdentity.hostName());
      this.nameKey = SlotKeys.bytes(namespace + ":name:" + node);
      this.clock = clock;
    }

    /**
     * Takes the name of the node for {@link NodeSigns#LIFE_SECONDS}; each sign of life keeps it.
     *
     * @param isGone whether who has it is known to be gone
     * @return who else has it; null when this process has it now
     */
    public @Nullable NameHolder takeName(RedisConnection redis, Predicate<NameHolder> isGone) {
      NameHolder other = takeNameOf(redis, "");
      return other != null && isGone.test(other) ? takeNameOf(redis, other.text()) : other;
    }

    private @Nullable NameHolder takeNameOf(RedisConnection redis, String gone) {
      List<Object> has = NAME.call(redis, nameKey, self.text(), LIFE_SECONDS, gone);
      String other = LuaScript.string(has.get(0));
      return other.isEmpty() ? null : NameHolder.parse(other);
    }

    /** Somebody took it while this process stood still, or Redis was away. */
    private void keepName(RedisConnection redis) {
      NameHolder other = takeNameOf(redis, "");
      if (other != null && !other.equals(twin)) {
        LOG.error(
            "another node is called {}: process {} on host {}. Give each a name of its own",
            node,
            other.process,
            other.host);
      }
      twin = other;
    }

    /**
     * Gives a sign of life, if the last one is not fresh; to be called every second or so.
     *
     * @param hasHealedOn whether this node has healed on a server, by its run id
     * @return whether the one before was gone. Then Redis has lost more than that, if no connection
     *     broke meanwhile: somebody emptied it. (Or this process stood still for {@link
     *     NodeSigns#LIFE_SECONDS}: then to heal is harmless.)
     */
    public boolean beat(ControlConnection redis, Predicate<String> hasHealedOn) {
      if (System.nanoTime() - beatNanos < BEAT_EVERY_NANOS) {
        return false;
      }
      PrimaryConnector.Opened to = redis.connected();
      return redis.call(
          to.redis(), connection -> beatNow(connection, hasHealedOn.test(to.runId())));
    }

    /**
     * Gives a sign of life to a server on which this node is about to heal, so that a later one
     * that is gone was lost since.
     *
     * @param server its run id
     */
    public void beatFirst(RedisConnection redis, String server) {
      boolean gone = beatNow(redis, false);
      if (gone || !server.equals(beganOn)) { // what others lost here shows from now on
        RedisReply.await(() -> redis.sync().del(unbrokenKey(namespace)));
        long unused = unbrokenMillis(redis, namespace);
      }
      beganOn = server;
    }

    private boolean beatNow(RedisConnection redis, boolean hasHealed) {
      long askedNanos = System.nanoTime();
      List<Object> was = beat(redis, key, hasHealed ? node : node + UNHEALED);
      clock.saw((Long) was.get(1), askedNanos);
      long unused = unbrokenMillis(redis, namespace);
      keepName(redis);
      boolean gone = hasBegun && (Long) was.get(0) == 0;
      beatNanos = System.nanoTime();
      hasBegun = true;
      return gone;
    }

    static List<Object> beat(RedisConnection redis, byte[] key, String sign) {
      return SCRIPT.call(redis, key, sign, LIFE_SECONDS);
    }

    /** Says that this node is gone, and its name free. */
    public void stop(ControlConnection redis) {
      redis.call(
          connection -> {
            boolean isNamed = takeNameOf(connection, "") == null;
            return RedisReply.await(
                () -> isNamed ? connection.sync().del(key, nameKey) : connection.sync().del(key));
          });
    }
  }

  /** Where an owner is open, as far as Redis and the signs of life of nodes tell. Immutable. */
  public static final class OpenOwners {
    private final String namespace;
    private final String process;
    private final BiPredicate<OwnerId, SessionId> isOpenHere;

    /**
     * As one node process asks.
     *
     * @param process its id, 8 hex digits
     * @param isOpenHere whether the game has a session of this process open
     */
    public OpenOwners(
        String namespace, String process, BiPredicate<OwnerId, SessionId> isOpenHere) {
      this.namespace = namespace;
      this.process = process;
      this.isOpenHere = isOpenHere;
    }

    /**
     * Where an owner is open.
     *
     * @param session under which it is
     * @param where as it is said to users
     */
    public record Holder(SessionId session, String where) {}

    /**
     * Where an owner is open: in a session that this process has open, on a node that is alive, or
     * on one that may be alive since Redis was away or failed over a moment ago. Null when the
     * session was closed, is one of this process that the game has not got, or its node has given
     * no sign of life for {@link NodeSigns#LIFE_SECONDS} while Redis took them. A session that
     * Redis does not know counts as open while its node is alive and has not healed, as when it
     * cannot reach MySQL.
     */
    public @Nullable Holder holder(
        RedisConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
      SessionId inRedis = SessionScripts.session(redis, slot, owner);
      boolean isKnown =
          inRedis != null
              && (CountingSessions.counts(durable, inRedis)
                  || inRedis.isNewerThan(durable.newest()));
      if (isKnown && SessionScripts.isClosed(redis, slot, owner)) {
        return null;
      }
      SessionId session = isKnown ? durable.holder(inRedis) : durable.lastOpen();
      if (session == null) {
        return null;
      }
      if (process(session).equals(process)) {
        return isOpenHere.test(owner, session) ? new Holder(session, "on this node") : null;
      }
      String sign = sign(redis, namespace, process(session));
      if (sign != null && (isKnown || sign.endsWith(UNHEALED))) {
        return new Holder(session, "on node " + name(sign) + ", which is alive");
      }
      // Its node may have had no chance to tell this server of itself, or of the session.
      long millis = unbrokenMillis(redis, namespace);
      return millis >= LIFE_SECONDS * 1_000L
          ? null
          : new Holder(
              session,
              String.format(
                  Locale.ROOT,
                  "on a node that may be alive: Redis can tell in %.1f s",
                  LIFE_SECONDS - millis / 1000.0));
    }

    /**
     * Tells the node that has an owner open that it is wanted here; nobody may be listening.
     *
     * @param asks whether it is to close the session
     */
    public void tellHolder(
        ControlConnection redis, OwnerId owner, SessionId session, boolean asks) {
      byte[] channel = SlotKeys.bytes(SlotKeys.sessionChannel(namespace, process(session)));
      byte[] line =
          SlotKeys.bytes((asks ? "asked " : "held ") + owner.encoded() + " " + session.text());
      long unused =
          redis.call(
              connection -> RedisReply.await(() -> connection.sync().publish(channel, line)));
    }

    /**
     * The session under which an owner is open; null when it was closed, or Redis knows of none.
     *
     * @param durable the owner's sessions in MySQL
     */
    public static @Nullable SessionId session(
        RedisConnection redis, SlotKeys slot, OwnerId owner, CountingSessions durable) {
      SessionId inRedis = SessionScripts.session(redis, slot, owner);
      return inRedis == null || SessionScripts.isClosed(redis, slot, owner)
          ? null
          : durable.holder(inRedis);
    }
  }

  /**
   * What node and writer processes of a namespace say of themselves, for operators: nothing else
   * depends on it. Found by an index, at a cost that grows with the number of processes. Immutable.
   */
  public static final class ProcessSigns {
    private static final LuaScript SCRIPT = LuaScript.of(ProcessSigns.class, "sign.lua");
    private static final LuaScript SIGNS = LuaScript.of(ProcessSigns.class, "signs.lua");

    public static final String NODE = "node";
    public static final String WRITER = "writer";

    /** Which kind of process it is, among the fields. */
    private static final String KIND = "kind";

    /** By how much its host's clock is ahead, among the fields. */
    private static final String AHEAD = "ahead";

    /** What a process that is gone said last is still there after a weekend and some holidays. */
    static final int KEPT_SECONDS = (int) TimeUnit.DAYS.toSeconds(7);

    /**
     * Of those that run and those that are gone, which is worth most to know: a start that fails
     * every minute makes as many in a week. Those that have been silent for longest go.
     */
    static final int MOST = 10_000;

    /** Of one call, while which Redis does nothing else. */
    private static final int AT_ONCE = 200;

    private final String namespace;

    public ProcessSigns(String namespace) {
      this.namespace = namespace;
    }

    /**
     * What a process said of itself, and when. Immutable.
     *
     * @param id of this start of the process, 8 hex digits
     * @param silentMillis how long ago it said so, by the clock of Redis
     * @param beat the sign of life that it gives as a node: {@link Beat#NONE} where it gives none
     * @param fields what it said, by name
     */
    public record ProcessSign(String id, long silentMillis, Beat beat, Map<String, String> fields) {
      /** The sign of life of a node. */
      public enum Beat {
        NONE,
        /** It has not healed on this Redis, which may not know its sessions. */
        UNHEALED,
        HEALED
      }

      public ProcessSign {
        fields = Map.copyOf(fields);
      }

      /** {@link #NODE} or {@link #WRITER}. */
      public String kind() {
        return fields.getOrDefault(KIND, "");
      }

      /**
       * By how much the clock of its host was ahead of Redis' when it said so, ms; negative when it
       * was behind, or Redis took long to hear it.
       */
      public long aheadMillis() {
        return Long.parseLong(fields.getOrDefault(AHEAD, "0"));
      }

      /** Whether it said something lately. */
      public boolean isFresh() {
        return silentMillis < LIFE_SECONDS * 1_000L;
      }
    }

    /** {@code process:<id>}, {@code processes} or {@code clock}. */
    private byte[] key(String name) {
      return SlotKeys.bytes(namespace + ":" + name);
    }

    /**
     * A process says how it is; what it said before is forgotten. Also at maxmemory.
     *
     * @param id of this start of the process, 8 hex digits
     * @return whether Redis still knew what it said before
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    public boolean tell(RedisConnection redis, String id, String kind, Map<String, String> fields) {
      return tell(redis, id, kind, fields, System.currentTimeMillis());
    }

    /** The same from a host whose clock says so, ms. */
    boolean tell(
        RedisConnection redis,
        String id,
        String kind,
        Map<String, String> fields,
        long clockMillis) {
      List<byte[]> said = new ArrayList<>();
      fields.forEach((name, value) -> said.addAll(List.of(utf8(name), utf8(value))));
      List<Object> reply =
          SCRIPT.call(
              redis,
              new byte[][] {key("process:" + id), key("processes"), key("clock")},
              utf8(id),
              KEPT_SECONDS,
              MOST,
              Long.toString(clockMillis),
              said,
              KIND,
              kind);
      return (long) reply.get(0) == 1;
    }

    /**
     * By how much Redis' clock is behind what it was when a process said something, ms; 0 when it
     * is not. It went back, or another server took over: what was to happen by the clock before,
     * and was not brought forward, comes so much later.
     *
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    public long clockBehindMillis(RedisConnection redis) {
      byte[] latest = RedisReply.await(() -> redis.sync().get(key("clock")));
      return latest == null
          ? 0
          : Math.max(0, Long.parseLong(LuaScript.string(latest)) - RedisClock.now(redis));
    }

    /**
     * A process is gone, and nothing of it is to be seen to any more; returns whether it was known.
     */
    public boolean forget(RedisConnection redis, String id) {
      long unused = RedisReply.await(() -> redis.sync().del(key("process:" + id)));
      return RedisReply.await(() -> redis.sync().zrem(key("processes"), utf8(id))) > 0;
    }

    /**
     * What all processes said, those that have been silent for longest before the others; also of
     * those that are gone and did not say so.
     *
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    public List<ProcessSign> all(RedisConnection redis) {
      byte[][] keys = {key("processes"), key("process:"), NodeSigns.key(namespace, "")};
      List<ProcessSign> all = new ArrayList<>();
      int some = AT_ONCE;
      for (int from = 0; some == AT_ONCE; from += AT_ONCE) {
        List<Object> signs = SIGNS.call(redis, keys, from, from + AT_ONCE - 1);
        signs.stream()
            .map(of -> sign((List<?>) of))
            .filter(of -> !of.fields().isEmpty())
            .forEach(all::add);
        some = signs.size();
      }
      return all;
    }

    private static ProcessSign sign(List<?> of) {
      String beat = LuaScript.string(of.get(2));
      List<?> said = (List<?>) of.get(3);
      Map<String, String> fields = new LinkedHashMap<>();
      for (int i = 0; i < said.size(); i += 2) {
        fields.put(LuaScript.text(said.get(i)), LuaScript.text(said.get(i + 1)));
      }
      return new ProcessSign(
          LuaScript.string(of.get(0)),
          (Long) of.get(1),
          beat.isEmpty()
              ? ProcessSign.Beat.NONE
              : beat.endsWith(UNHEALED) ? ProcessSign.Beat.UNHEALED : ProcessSign.Beat.HEALED,
          fields);
    }
  }
}
