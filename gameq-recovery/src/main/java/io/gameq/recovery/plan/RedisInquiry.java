package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Answer;
import io.gameq.redis.script.LookupScript.Question;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Asks Redis what it holds of a batch of rows. One thread. */
final class RedisInquiry {
  private final LookupScript script;

  RedisInquiry(RecoveryRedis redis) {
    this.script = new LookupScript(redis.pipeline(), redis.slots());
  }

  /**
   * What Redis holds of each row, in the same order.
   *
   * @param whole whether whole rows are wanted and not only versions
   */
  List<InRedis> ask(List<AskedRow> rows, boolean whole) {
    Map<OwnerId, List<Integer>> placesByOwner = new LinkedHashMap<>();
    for (int i = 0; i < rows.size(); i++) {
      OwnerId owner = rows.get(i).change().owner();
      placesByOwner.computeIfAbsent(owner, of -> new ArrayList<>()).add(i);
    }
    List<Question> questions = new ArrayList<>();
    placesByOwner.forEach(
        (owner, places) -> questions.add(question(owner, places.stream().map(rows::get).toList())));
    List<Answer> answers = script.ask(questions, whole);
    InRedis[] found = new InRedis[rows.size()];
    for (int i = 0; i < answers.size(); i++) {
      Question question = questions.get(i);
      Answer answer = answers.get(i);
      List<Integer> places = Objects.requireNonNull(placesByOwner.get(question.owner()));
      for (int field = 0; field < places.size(); field++) {
        found[places.get(field)] =
            new InRedis(answer.ownedBy(), question.sessions(), answer.fields().get(field));
      }
    }
    return Arrays.asList(found);
  }

  private static Question question(OwnerId owner, List<AskedRow> rows) {
    Set<SessionId> sessions = new LinkedHashSet<>();
    for (AskedRow row : rows) {
      sessions.add(row.change().session());
      sessions.add(row.newestSession());
    }
    return new Question(
        owner, List.copyOf(sessions), rows.stream().map(row -> row.change().key()).toList());
  }
}
