package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.Slots;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** {@code ack.lua}: ends claims whose rows are in MySQL, and tells their nodes. Stateless. */
public final class AckScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(AckScript.class, "claims.lua", "inbox.lua", "ack.lua");

  private AckScript() {}

  /**
   * A claim that was flushed.
   *
   * @param version up to which all of it is in MySQL, set aside, or kept
   * @param setAside rows that are dead letters now
   * @param kept rows that go back to wait
   * @param keptMillis until the owner is due again for them
   */
  public record Flushed(
      Claim claim,
      long version,
      List<VersionedKey> setAside,
      List<VersionedKey> kept,
      long keptMillis) {}

  /** Ends claims and tells their nodes, in one round trip. Returns how many were still ours. */
  public static int call(
      RedisConnection redis, Slots slots, String namespace, List<Flushed> flushed) {
    List<LuaScript.Call> calls = new ArrayList<>();
    slots
        .grouped(flushed, of -> of.claim().owner())
        .forEach(
            (slot, all) ->
                all.stream()
                    .collect(Collectors.groupingBy(AckScript::keptMillis))
                    .forEach(
                        (millis, some) ->
                            calls.add(new LuaScript.Call(slot, args(namespace, millis, some)))));
    return Claim.stillOurs(SCRIPT.callEach(redis, calls));
  }

  /** Where nothing is kept any will do: most have the same. */
  private static long keptMillis(Flushed of) {
    return of.kept().isEmpty() ? 0 : of.keptMillis();
  }

  private static List<String> args(String namespace, long keptMillis, List<Flushed> flushed) {
    List<String> args = new ArrayList<>();
    args.add(namespace);
    args.add(Long.toString(OwnKey.KEPT_MILLIS));
    args.add(Long.toString(keptMillis));
    for (Flushed f : flushed) {
      args.add(f.claim().owner().encoded());
      args.add(f.claim().token());
      args.add(hex(f.version()));
      addRows(args, f.setAside());
      addRows(args, f.kept());
    }
    return args;
  }

  private static void addRows(List<String> args, List<VersionedKey> rows) {
    args.add(Integer.toString(rows.size()));
    for (VersionedKey row : rows) {
      args.add(row.key());
      args.add(hex(row.version()));
    }
  }

  private static String hex(long version) {
    return HexFormat.of().toHexDigits(version);
  }
}
