package io.gameq.healing;

import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that a node held when it began to heal, lost ones too, in an order that stays. One
 * thread.
 */
public final class HeldSessions {
  private final List<HeldSession> all;
  private final Map<SessionName, HeldSession> byName = new HashMap<>();

  public HeldSessions(Collection<HeldSession> all) {
    this.all = List.copyOf(all);
    all.forEach(of -> byName.put(SessionName.of(of.ref()), of));
  }

  List<HeldSession> all() {
    return all;
  }

  /** Those that own, as far as is known. */
  List<HeldSession> owning() {
    return all.stream().filter(of -> !of.ref().isLost()).toList();
  }

  @Nullable HeldSession find(SessionName name) {
    return byName.get(name);
  }

  @Nullable HeldSession of(WalRecord.Part part) {
    return find(new SessionName(part.owner(), part.session()));
  }

  /** What of a record may be sent: parts of sessions that do not own are left out. */
  List<CommitScript.Part> owned(List<WalRecord.Part> parts) {
    List<CommitScript.Part> owned = new ArrayList<>();
    for (WalRecord.Part part : parts) {
      HeldSession session = of(part);
      if (session != null && !session.ref().isLost()) {
        List<byte[]> rows = new ArrayList<>(2 * part.rows().size());
        for (EncodedRow row : part.rows()) {
          rows.add(SlotKeys.bytes(row.key()));
          rows.add(row.image());
        }
        owned.add(new CommitScript.Part(session.keys(), rows));
      }
    }
    return owned;
  }

  /** WAL sequences of which a lost session may have a half that nobody holds. */
  Set<Long> doubtful() {
    Set<Long> doubtful = new HashSet<>();
    all.stream()
        .filter(of -> of.ref().isLost())
        .forEach(of -> of.unsettled().doubtful(doubtful::add));
    return doubtful;
  }
}
