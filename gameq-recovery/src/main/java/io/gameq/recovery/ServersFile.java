package io.gameq.recovery;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gameq.GameQueueException;
import io.gameq.Password;
import io.gameq.Tls;
import io.gameq.terminal.Variables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The servers in a writer's gameq.yaml: sections {@code redis} and {@code mysql}, of which the
 * writer checks the rest. Immutable.
 */
final class ServersFile {
  private final Path file;
  private final JsonNode tree;
  private final UnaryOperator<@Nullable String> environment;

  /**
   * Reads it.
   *
   * @param environment what {@code ${NAME}} in a value stands for
   * @throws GameQueueException when it cannot be read, without its text, which may hold secrets
   */
  ServersFile(Path file, UnaryOperator<@Nullable String> environment) {
    this.file = file;
    this.environment = environment;
    try {
      this.tree = new YAMLMapper().readTree(Files.readString(file));
    } catch (JsonProcessingException e) {
      throw new GameQueueException(file + " is no YAML: 'gameq-writer config check' says where");
    } catch (IOException e) {
      throw new GameQueueException("%s cannot be read (%s)".formatted(file, e), e);
    }
  }

  /**
   * A setting, such as {@code redis/uri}; null: not there.
   *
   * @throws GameQueueException naming a variable that is not set
   */
  @Nullable String text(String path) {
    JsonNode value = tree.at("/" + path);
    if (!value.isValueNode() || value.isNull()) {
      return null;
    }
    return Variables.filled(value.asText(), variable -> content(path, variable));
  }

  private String content(String path, String variable) {
    String content = environment.apply(variable);
    if (content == null) {
      throw new GameQueueException(
          "%s: setting '%s' names the environment variable %s, which is not set"
              .formatted(file, path.replace('/', '.'), variable));
    }
    return content;
  }

  /** The login's password in a section, such as {@code redis/sentinel}; null: none. */
  @Nullable Password password(String section) {
    String name = text(section + "/passwordFile");
    if (name != null) {
      return Password.ofFile(Path.of(name));
    }
    String secret = text(section + "/password");
    return secret == null ? null : Password.from(file.toString(), () -> secret);
  }

  /** Whom to trust; null: the file has no such section. */
  @Nullable Tls tls(String server) {
    return tree.at("/" + server + "/tls").isMissingNode()
        ? null
        : new Tls(path(server + "/tls/caFile"), path(server + "/tls/clientFile"));
  }

  private @Nullable Path path(String setting) {
    String name = text(setting);
    return name == null ? null : Path.of(name);
  }
}
