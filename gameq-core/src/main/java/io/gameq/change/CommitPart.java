package io.gameq.change;

import io.gameq.owner.SessionRef;
import java.util.List;

/** One session's share of a commit; immutable but for the versions inside the images. */
public record CommitPart(SessionRef session, List<ChangedRow> rows) {}
