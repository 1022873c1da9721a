package io.gameq.term;

/**
 * Which queue this is, by MySQL: Redis notes the same, so that nobody joins the MySQL of one
 * environment to the Redis of another.
 *
 * @param namespace empty where nobody used the database yet
 * @param database its random id, which a clone shares until it is given another one
 */
public record QueueIdentity(String namespace, String database) {
  /** Passes everywhere. */
  public static final QueueIdentity ANY = new QueueIdentity("", "");
}
