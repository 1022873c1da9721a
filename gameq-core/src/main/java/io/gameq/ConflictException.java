package io.gameq;

/**
 * A commit was acknowledged, a Redis failover lost rows of it, and they are not replayed, for
 * instance because another node had taken the owner over by then. See {@link Conflict}.
 */
public final class ConflictException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  private final transient Conflict conflict;

  /** With a message that names owner, session and rows. */
  public ConflictException(Conflict conflict) {
    super(
        ("Redis lost acknowledged changes of %s by session %s, and they are not replayed (%s):"
                + " %s; see 'gameq-recovery plan'")
            .formatted(
                conflict.owner(), conflict.session(), conflict.reason(), conflict.rows().keySet()));
    this.conflict = conflict;
  }

  /** What is lost, and whether it may come back; not kept when this exception is serialized. */
  public Conflict conflict() {
    return conflict;
  }
}
