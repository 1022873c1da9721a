package io.gameq.lab.demo.sample;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A row of table quest_progress; immutable, as nobody writes into {@code flags}. */
record QuestProgress(
    long playerId, int questId, int stage, byte[] flags, @Nullable Instant doneAt) {}
