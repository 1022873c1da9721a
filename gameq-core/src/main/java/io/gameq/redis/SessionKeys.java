package io.gameq.redis;

import io.gameq.owner.SessionRef;

/** The keys and members that commits of one session use, as bytes, made once. */
public final class SessionKeys {
  public final SlotKeys slot;
  public final byte[] own;
  public final byte[] dirty;
  public final byte[] dueMember;
  public final byte[] session;
  public final byte[] owner;

  public SessionKeys(SlotKeys slot, SessionRef ref) {
    this.slot = slot;
    this.own = slot.own(ref.owner());
    this.dirty = slot.dirty(ref.owner(), ref.id());
    this.dueMember = SlotKeys.bytes(ref.owner().encoded() + ":" + ref.id().text());
    this.session = SlotKeys.bytes(ref.id().text());
    this.owner = SlotKeys.bytes(ref.owner().encoded());
  }
}
