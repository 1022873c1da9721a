package io.gameq.writer.messages;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import io.gameq.GameQueueException;
import io.gameq.message.PayloadText;
import io.gameq.topic.Publish;
import java.io.IOException;
import java.io.StringWriter;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Base64;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A message as a request has it; null where something is left out. Immutable. */
record PublishedBody(
    @Nullable String key,
    @Nullable String group,
    @JsonDeserialize(using = RawJsonDeserializer.class) @Nullable String payload,
    @Nullable String payloadBase64,
    @Nullable Integer priority,
    @Nullable String at,
    @Nullable Long afterMillis,
    @Nullable Long windowMillis,
    @Nullable Long capMillis,
    @Nullable Long everyMillis,
    @Nullable String cron,
    @Nullable String zone,
    @Nullable String until,
    @Nullable Integer count,
    @Nullable String missed) {
  /** A double of 9 bytes has up to 24 characters. */
  private static final int MOST_CHARS_A_BYTE = 8;

  /**
   * The message.
   *
   * @param keyOfPath null where the body has it
   * @param groupOfPath null where the body may have it
   * @param mostBytes of a payload of the topic
   * @throws GameQueueException naming what is wrong, without the payload
   */
  Publish<byte[]> message(@Nullable String keyOfPath, @Nullable String groupOfPath, int mostBytes) {
    Publish<byte[]> of = Publish.of(one("key", keyOfPath, key, true), payloadBytes(mostBytes));
    String inGroup = one("group", groupOfPath, group, false);
    of = inGroup.isEmpty() ? of : of.group(inGroup);
    of = priority == null ? of : of.priority(priority);
    of = windowMillis == null ? of : of.window(Duration.ofMillis(windowMillis));
    of = afterMillis == null ? of : of.after(Duration.ofMillis(afterMillis));
    of = at == null ? of : of.at(read("at", at, Instant::parse));
    of = capMillis == null ? of : of.cap(Duration.ofMillis(capMillis));
    return recurring(of);
  }

  private static String one(
      String name, @Nullable String ofPath, @Nullable String ofBody, boolean isNeeded) {
    if (ofPath != null && ofBody != null && !ofPath.equals(ofBody)) {
      throw new GameQueueException(
          "'%s' of the body differs from that of the path".formatted(name));
    }
    String value = ofPath == null ? ofBody : ofPath;
    if (value == null && isNeeded) {
      throw new GameQueueException("'%s' is missing".formatted(name));
    }
    return value == null ? "" : value;
  }

  private byte[] payloadBytes(int mostBytes) {
    if ((payload == null) == (payloadBase64 == null)) {
      throw new GameQueueException("give one of 'payload', a JSON object, and 'payloadBase64'");
    }
    if (payload != null) {
      if (payload.length() > MOST_CHARS_A_BYTE * (long) mostBytes) { // before it is read
        throw new GameQueueException(
            "'payload' is larger than the topic's payloadBytes, %s".formatted(mostBytes));
      }
      return PayloadText.bytes(PayloadText.Form.RECORD, payload);
    }
    return read("payloadBase64", String.valueOf(payloadBase64), Base64.getDecoder()::decode);
  }

  private Publish<byte[]> recurring(Publish<byte[]> once) {
    if (everyMillis != null && cron != null) {
      throw new GameQueueException("give one of 'everyMillis' and 'cron'");
    }
    Publish<byte[]> of = everyMillis == null ? once : once.every(Duration.ofMillis(everyMillis));
    if (cron != null) {
      of = of.cron(cron, read("zone", zone == null ? "UTC" : zone, ZoneId::of));
    }
    of = until == null ? of : of.until(read("until", until, Instant::parse));
    of = count == null ? of : of.count(count);
    return missed == null
        ? of
        : of.missed(
            read("missed", missed, text -> Publish.Missed.valueOf(text.toUpperCase(Locale.ROOT))));
  }

  private static <T> T read(String name, String text, Function<String, T> parse) {
    try {
      return parse.apply(text);
    } catch (DateTimeException | IllegalArgumentException e) { // without the text
      throw new GameQueueException(
          switch (name) {
            case "payloadBase64" -> "'payloadBase64' is not Base64 (RFC 4648, with padding)";
            case "missed" -> "'missed' is once, skip or all";
            case "zone" -> "'zone' is a name such as Europe/Berlin";
            default -> "'%s' is an instant such as 2027-01-01T18:00:00Z".formatted(name);
          });
    }
  }

  /** Any JSON as its text: a tree of it takes up to a hundred times its bytes. */
  static final class RawJsonDeserializer extends StdDeserializer<String> {
    private static final long serialVersionUID = 1L;

    RawJsonDeserializer() {
      super(String.class);
    }

    @Override
    public String deserialize(JsonParser from, DeserializationContext context) throws IOException {
      StringWriter text = new StringWriter();
      try (JsonGenerator to = from.getCodec().getFactory().createGenerator(text)) {
        to.copyCurrentStructure(from);
      }
      return text.toString();
    }
  }
}
