package io.gameq.commit;

import io.gameq.ChangeSet;
import io.gameq.CommitReceipt;
import io.gameq.OwnerSession;
import io.gameq.message.MessageChange;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Commits changes of messages: publishes, acknowledgements and the like. Thread-safe.
 *
 * <p>All of one call is applied or nothing; several changes of one message count as one. Each call
 * throws as {@link io.gameq.GameQueue#commit(OwnerSession...)}, with nothing taken then; a commit
 * holds at most as many changes and bytes as it may hold rows and bytes. What a receipt may fail
 * with besides: {@link io.gameq.topic.ClaimLostException}, {@link
 * io.gameq.message.MessageChange.MessageChangedException}: nothing of it was applied.
 */
public interface MessageCommits {
  /**
   * Commits messages together with what is staged in sessions, rows and messages. One of messages
   * alone is durable once it is queued.
   */
  CommitReceipt commit(List<MessageChange> changes, OwnerSession... sessions);

  /**
   * Commits messages together with what the game's code stages, and with nothing else that is
   * staged in these sessions; without any it stages messages and rows that are sent. Throws what
   * the code throws, and what the first change was refused with.
   */
  CommitReceipt commit(
      List<MessageChange> changes, Consumer<ChangeSet> staging, OwnerSession... sessions);

  /**
   * Commits messages alone, without a receipt.
   *
   * @param told is called once, on a thread of gameq, so it must be quick and not throw: with null
   *     when Redis holds the commit, else with what it failed with
   */
  void commit(List<MessageChange> changes, Consumer<@Nullable RuntimeException> told);
}
