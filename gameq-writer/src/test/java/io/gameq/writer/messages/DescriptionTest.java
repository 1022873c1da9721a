package io.gameq.writer.messages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gameq.writer.messages.MessageApi.Route;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The OpenAPI description says what the door does. */
class DescriptionTest {
  private static final JsonNode DESCRIPTION = read();

  private static JsonNode read() {
    try (InputStream file =
        Objects.requireNonNull(MessageApi.class.getResourceAsStream("openapi.yaml"))) {
      return new YAMLMapper().readTree(file);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void everyRouteIsDescribedAndNoOtherOne() {
    Set<String> routes =
        Arrays.stream(Route.values())
            .map(of -> of.method + " " + of.path.replace('<', '{').replace('>', '}'))
            .collect(Collectors.toCollection(TreeSet::new));
    routes.add("GET " + Route.DESCRIPTION);
    Set<String> described = new TreeSet<>();
    DESCRIPTION
        .get("paths")
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .fieldNames()
                    .forEachRemaining(
                        method -> {
                          if (!method.equals("parameters")) {
                            described.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey());
                          }
                        }));
    assertEquals(routes, described);
  }

  @Test
  void everyBodyHasTheFieldsThatAreDescribed() {
    for (Class<?> body :
        Set.of(
            PublishedBody.class,
            MessageApi.Publishes.class,
            MessageApi.Takes.class,
            MessageApi.Acknowledgements.class,
            MessageApi.Extensions.class,
            MessageApi.Failures.class,
            MessageApi.Definition.class,
            MessageApi.Attempts.class)) {
      Set<String> described = new TreeSet<>();
      schema(body.getSimpleName()).get("properties").fieldNames().forEachRemaining(described::add);
      assertEquals(
          Arrays.stream(body.getRecordComponents())
              .map(RecordComponent::getName)
              .collect(Collectors.toCollection(TreeSet::new)),
          described,
          body.getSimpleName());
    }
  }

  private static JsonNode schema(String name) {
    return DESCRIPTION.at("/components/schemas/" + name);
  }

  @Test
  void everyReferenceLeadsSomewhere() {
    int seen = 0;
    for (JsonNode reference : DESCRIPTION.findValues("$ref")) {
      String to = reference.asText();
      assertTrue(to.startsWith("#/"), to);
      assertFalse(DESCRIPTION.at(to.substring(1)).isMissingNode(), to);
      seen++;
    }
    assertTrue(seen > 20, "references: " + seen);
  }
}
