package io.gameq.topic;

import io.gameq.ChangeSet;
import io.gameq.OwnerSession;

/**
 * The game's code that handles a message of an owner, in a topic {@linkplain TopicOptions#ofOwners
 * of owners}. Of one owner one message is handled at a time; a handler may be called again with a
 * message that failed, or whose outcome was not known.
 */
@FunctionalInterface
public interface OwnerHandler<T> {
  /**
   * Handles a message. When it returns, what it staged is committed together with the
   * acknowledgement: both or neither, so that rows are changed exactly once. When it throws,
   * nothing is left of what it staged, and the message is tried again as the topic says.
   *
   * <p>Change the game's memory last. When the commit fails, the session ends, as {@link
   * OwnerSession#lost} tells, or throws ClosedException: what memory has of the owner is dropped
   * then, and the owner opened again.
   *
   * @param owner whose message it is; stage nothing in the session itself
   * @param delivery of which {@link Delivery#ackWith} is not to be called
   * @param changes belong to this call, on this thread
   * @throws Exception whatever it likes; an outage's costs no attempt
   */
  void handle(OwnerSession owner, Delivery<T> delivery, ChangeSet changes) throws Exception;
}
