package io.gameq.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.gameq.writer.config.ConfigReader;
import io.gameq.writer.config.WriterConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The manifests have no field that Kubernetes does not know, and settings that a writer takes. */
class KubernetesTest {
  private static final Path MANIFESTS = Path.of("kubernetes");
  private static final Pattern NEXT_DOCUMENT = Pattern.compile("^---$", Pattern.MULTILINE);

  private static final Map<String, Class<? extends HasMetadata>> KINDS =
      Map.of(
          "v1 ConfigMap", ConfigMap.class,
          "v1 Service", Service.class,
          "batch/v1 Job", Job.class,
          "apps/v1 Deployment", Deployment.class,
          "apps/v1 StatefulSet", StatefulSet.class,
          "policy/v1 PodDisruptionBudget", PodDisruptionBudget.class);

  /** The model keeps fields that it does not know; here they are errors. */
  private static final YAMLMapper STRICT =
      YAMLMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .annotationIntrospector(
              new JacksonAnnotationIntrospector() {
                private static final long serialVersionUID = 1L;

                @Override
                public Boolean hasAnySetter(MapperConfig<?> config, Annotated of) {
                  return false;
                }
              })
          .build();

  @TempDir Path directory;

  private static List<HasMetadata> objects(String manifests) {
    List<HasMetadata> all = new ArrayList<>();
    for (String document : NEXT_DOCUMENT.split(manifests, -1)) {
      var tree = STRICT.readTree(document);
      String kind = tree.get("apiVersion").asString() + " " + tree.get("kind").asString();
      Class<? extends HasMetadata> type = KINDS.get(kind);
      assertTrue(type != null, kind);
      all.add(STRICT.readValue(document, type));
    }
    return all;
  }

  private static String read(String file) throws IOException {
    return Files.readString(MANIFESTS.resolve(file));
  }

  private static List<String> names(String file) throws IOException {
    return objects(read(file)).stream()
        .map(of -> of.getKind() + " " + of.getMetadata().getName())
        .toList();
  }

  @Test
  void kubernetesKnowsEachField() throws Exception {
    assertEquals(
        List.of(
            "ConfigMap gameq",
            "Job gameq-schema",
            "Deployment gameq-writer",
            "PodDisruptionBudget gameq-writer"),
        names("writer.yaml"));
    assertEquals(List.of("Service game", "StatefulSet game"), names("game.yaml"));
    String wrong = read("game.yaml").replace("replicas:", "replica:");
    assertThrows(UnrecognizedPropertyException.class, () -> objects(wrong));
  }

  @Test
  void aWriterTakesTheSettings() throws Exception {
    for (String secret : List.of("mysql-password", "redis-password", "http-token")) {
      Files.writeString(directory.resolve(secret), "a-secret-of-32-characters-or-more");
    }
    ConfigMap map = (ConfigMap) objects(read("writer.yaml")).get(0);
    Path settings =
        Files.writeString(
            directory.resolve("gameq.yaml"),
            Objects.requireNonNull(map.getData().get("gameq.yaml"))
                .replace("${WRITER_NAME}", "gameq-writer-0")
                .replace("/run/secrets/gameq", directory.toString()));
    WriterConfig config = ConfigReader.read(settings);
    assertEquals("mygame", config.namespace());
  }
}
