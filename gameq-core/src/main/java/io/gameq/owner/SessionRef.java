package io.gameq.owner;

/** A session as the commit path sees it; thread-safe. Compared by identity: one object per open. */
public final class SessionRef {
  private final OwnerId owner;
  private final SessionId id;
  private final int slot;
  private final String text;
  private volatile boolean lost;

  public SessionRef(OwnerId owner, SessionId id, int slot) {
    this.owner = owner;
    this.id = id;
    this.slot = slot;
    this.text = id.text();
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

  /**
   * Whether a newer session owns: nothing more may be committed under this one. Never goes back to
   * false.
   */
  public boolean isLost() {
    return lost;
  }

  public void markLost() {
    lost = true;
  }

  @Override
  public String toString() {
    return owner + " " + id;
  }
}
