package io.gameq;

/**
 * A commit was acknowledged, a Redis failover lost rows of it, and another node had taken the owner
 * over by then: these rows were not replayed. See {@link Conflict}.
 */
public final class ConflictException extends GameQueueException {
  private static final long serialVersionUID = 1L;

  ConflictException(Conflict conflict) {
    super(
        "Redis lost acknowledged changes of %s by session %s, and a newer session owns: %s; the WAL of this node has them, see 'gameq-recovery plan'"
            .formatted(conflict.owner(), conflict.session(), conflict.rows().keySet()));
  }
}
