package io.gameq.writer.campaign.messages;

import io.gameq.ClosedException;
import io.gameq.CommitFailedException;
import io.gameq.CommitReceipt;
import io.gameq.OwnershipLostException;
import io.gameq.QueueFullException;
import io.gameq.RedisFullException;
import io.gameq.WalException;
import io.gameq.topic.ClaimLostException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** What the failure of a commit says. Stateless. */
public final class Certainty {
  private Certainty() {}

  /** What {@link CommitReceipt#queued} promises of these: Redis does not have the commit. */
  public static boolean isCertain(Throwable failure) {
    return failure instanceof OwnershipLostException
        || failure instanceof RedisFullException
        || failure instanceof CommitFailedException
        || failure instanceof QueueFullException
        || failure instanceof ClosedException
        || failure instanceof ClaimLostException
        || failure instanceof WalException;
  }

  /** The failure itself, out of what a future wraps it in; null for none. */
  public static @Nullable Throwable cause(@Nullable Throwable error) {
    return error instanceof CompletionException && error.getCause() != null
        ? error.getCause()
        : error;
  }
}
