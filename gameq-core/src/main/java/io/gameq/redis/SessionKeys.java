package io.gameq.redis;

import io.gameq.commit.SessionRef;

/** The keys and members that commits of one session use, as bytes, made once. */
final class SessionKeys {
  final SlotKeys slot;
  final byte[] own;
  final byte[] dirty;
  final byte[] dueMember;
  final byte[] session;
  final byte[] owner;

  SessionKeys(SlotKeys slot, SessionRef ref) {
    this.slot = slot;
    this.own = slot.own(ref.owner());
    this.dirty = slot.dirty(ref.owner(), ref.id());
    this.dueMember = SlotKeys.bytes(ref.owner().encoded() + ":" + ref.id().text());
    this.session = SlotKeys.bytes(ref.id().text());
    this.owner = SlotKeys.bytes(ref.owner().encoded());
  }
}
