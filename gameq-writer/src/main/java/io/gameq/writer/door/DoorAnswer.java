package io.gameq.writer.door;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gameq.ClosedException;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueueException;
import io.gameq.terminal.ErrorLine;
import io.javalin.http.HttpResponseException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/** What a request gets: a status, and JSON. Immutable. */
record DoorAnswer(int status, ObjectNode body) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static final int OK = 200;
  static final int CREATED = 201;
  static final int BAD_REQUEST = 400;
  static final int NOT_FOUND = 404;
  static final int CONFLICT = 409;
  static final int UNAVAILABLE = 503;

  /** An object to be filled. */
  static ObjectNode object() {
    return JSON.createObjectNode();
  }

  static DoorAnswer ok(ObjectNode body) {
    return new DoorAnswer(OK, body);
  }

  static DoorAnswer error(int status, String why) {
    return new DoorAnswer(status, object().put("error", why));
  }

  /** What became of claims: 409 when some were lost, the others are done all the same. */
  static DoorAnswer claims(int done, List<String> lost) {
    if (lost.isEmpty()) {
      return ok(object().put("done", done));
    }
    DoorAnswer answer =
        error(
            CONFLICT,
            ("%s of %s claims were lost: their leases had run out, or they were acknowledged or"
                    + " failed before; those messages were, or will be, handled again; the others"
                    + " are done")
                .formatted(lost.size(), done + lost.size()));
    answer.body.put("done", done);
    lost.forEach(answer.body.putArray("lost")::add);
    return answer;
  }

  /** What an error comes to; one that nobody expected is thrown on. */
  static DoorAnswer of(Throwable error) {
    if (error instanceof CompletionException && error.getCause() != null) {
      return of(error.getCause());
    }
    if (error instanceof HttpResponseException known) {
      return error(known.getStatus(), String.valueOf(known.getMessage()));
    }
    if (error instanceof TimeoutException || error instanceof CommitUnknownException) {
      return error(
          UNAVAILABLE,
          "it is not known whether Redis has it; to send it again does no harm: a key has one"
              + " message");
    }
    if (error instanceof GameQueueException known) {
      boolean isOutage = known.isOutage() || known instanceof ClosedException;
      return error(isOutage ? UNAVAILABLE : BAD_REQUEST, ErrorLine.of(known));
    }
    throw error instanceof RuntimeException unexpected
        ? unexpected
        : new IllegalStateException(error);
  }
}
