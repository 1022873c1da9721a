package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.change.Commit.SlotMessages;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A commit of messages alone, of which one listener is told. */
public final class ToldCommit extends Commit {
  private final Consumer<@Nullable RuntimeException> told;

  /** With a listener as {@link MessageCommits#commit(List, Consumer)} takes it. */
  public ToldCommit(List<SlotMessages> messages, Consumer<@Nullable RuntimeException> told) {
    super(List.of(), messages, null);
    this.told = told;
  }

  @Override
  public void queued() {
    told.accept(null);
  }

  @Override
  public void failed(RuntimeException reason) {
    told.accept(reason);
  }
}
