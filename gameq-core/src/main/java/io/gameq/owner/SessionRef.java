package io.gameq.owner;

import org.jspecify.annotations.Nullable;

/** A session as the commit path sees it; thread-safe. Compared by identity: one object per open. */
public final class SessionRef {
  private final OwnerId owner;
  private final SessionId id;
  private final int slot;
  private final String text;
  private final boolean isInbox;
  private volatile boolean lost;
  private Runnable whenLost = () -> {};
  private volatile @Nullable Object attachment;

  public SessionRef(OwnerId owner, SessionId id, int slot) {
    this.owner = owner;
    this.id = id;
    this.slot = slot;
    this.text = id.text();
    this.isInbox = id.isInbox();
  }

  public OwnerId owner() {
    return owner;
  }

  public SessionId id() {
    return id;
  }

  /** The text form of the {@link #id}. */
  public String text() {
    return text;
  }

  public int slot() {
    return slot;
  }

  /** Whether it is that of an inbox. */
  public boolean isInbox() {
    return isInbox;
  }

  /** What was attached last; null for nothing. */
  public @Nullable Object attachment() {
    return attachment;
  }

  /** Has it carry what the sender needs for each commit of it, so that none looks it up. */
  public void attach(Object its) {
    attachment = its;
  }

  /**
   * Whether a newer session owns: nothing more may be committed under this one. Never goes back to
   * false.
   */
  public boolean isLost() {
    return lost;
  }

  /** It is lost from now on; whoever asked for it is told once. */
  public void markLost() {
    Runnable tell = () -> {};
    synchronized (this) {
      if (!lost) {
        lost = true;
        tell = whenLost;
      }
    }
    tell.run();
  }

  /** Has somebody told, on whatever thread notices it, when it is lost. */
  public synchronized void whenLost(Runnable tell) {
    whenLost = tell;
  }

  @Override
  public String toString() {
    return owner + " " + id;
  }
}
