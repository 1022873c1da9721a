package io.gameq.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;

/**
 * Builds the keys of one slot; the only place besides {@code slot.lua} that knows their form.
 * Immutable.
 */
public final class SlotKeys {
  private final int slot;
  private final String prefix;
  private final byte[] due;
  private final byte[] journal;

  public SlotKeys(String namespace, int slot) {
    this.slot = slot;
    this.prefix = "{" + namespace + ":" + slot + "}";
    this.due = bytes(prefix + ":due");
    this.journal = bytes(prefix + ":journal");
  }

  /** The keys of every slot of a namespace, in order. */
  public static SlotKeys[] all(String namespace, int slots) {
    SlotKeys[] all = new SlotKeys[slots];
    for (int i = 0; i < slots; i++) {
      all[i] = new SlotKeys(namespace, i);
    }
    return all;
  }

  public int slot() {
    return slot;
  }

  /** What scripts take as KEYS[1]. */
  public String prefix() {
    return prefix;
  }

  public byte[] own(OwnerId owner) {
    return bytes(prefix + ":own:" + owner.encoded());
  }

  public byte[] dirty(OwnerId owner, SessionId session) {
    return bytes(prefix + ":dirty:" + owner.encoded() + ":" + session.text());
  }

  /** The hash of the rows that a writer took. */
  public byte[] claimed(OwnerId owner) {
    return bytes(prefix + ":claimed:" + owner.encoded());
  }

  /** The set of the {@link #dirty} keys of sessions that lost ownership. */
  public byte[] stale() {
    return bytes(prefix + ":stale");
  }

  /** The session whose {@link #dirty} key this is. */
  public DirtyOf ofDirty(byte[] key) {
    String text = new String(key, US_ASCII).substring((prefix + ":dirty:").length());
    int colon = text.lastIndexOf(':');
    return new DirtyOf(
        OwnerId.ofEncoded(text.substring(0, colon)), SessionId.parse(text.substring(colon + 1)));
  }

  /** Whose rows a dirty hash holds. */
  public record DirtyOf(OwnerId owner, SessionId session) {}

  public byte[] due() {
    return due;
  }

  /** The list of due owners that are taken next. */
  public byte[] ready() {
    return bytes(prefix + ":ready");
  }

  /** The set of claimed owners, by the end of their leases. */
  public byte[] lease() {
    return bytes(prefix + ":lease");
  }

  /** The hash of who has claimed which owner. */
  public byte[] claim() {
    return bytes(prefix + ":claim");
  }

  /** A pattern of the {@link #dirty} keys of all sessions of an owner. */
  public byte[] dirtyOfAll(OwnerId owner) {
    return bytes(prefix + ":dirty:" + owner.encoded() + ":*"); // no character of a pattern in it
  }

  /** The hash of inboxes in which rows wait that were sent to an owner, see {@code inbox.lua}. */
  public byte[] inboxes(OwnerId owner) {
    return bytes(prefix + ":inboxes:" + owner.encoded());
  }

  /** The hash of what a node's sessions are to be told of, see {@code inbox.lua}. */
  public byte[] sent(String process) {
    return bytes(prefix + ":sent:" + process);
  }

  public byte[] closing() {
    return bytes(prefix + ":closing");
  }

  public byte[] journal() {
    return journal;
  }

  /** The channel on which acks tell a node process (8 hex digits) what is durable. */
  static String durableChannel(String namespace, String process) {
    return namespace + ":durable:" + process;
  }

  /** The channel on which a node process (8 hex digits) is told what becomes of its sessions. */
  public static String sessionChannel(String namespace, String process) {
    return namespace + ":session:" + process;
  }

  public static byte[] bytes(String ascii) {
    return ascii.getBytes(US_ASCII);
  }

  /** The keys and members that commits of one session use, as bytes, made once. */
  public static final class SessionKeys {
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

    /** Those that are attached to the session, else new ones; {@code slots}: of the namespace. */
    public static SessionKeys of(SlotKeys[] slots, SessionRef ref) {
      return ref.attachment() instanceof SessionKeys keys
          ? keys
          : new SessionKeys(slots[ref.slot()], ref);
    }
  }
}
