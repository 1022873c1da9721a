package io.gameq.writer.cli;

import io.gameq.writer.admin.Topics;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.CommandServers;
import java.util.function.ToIntFunction;

/** Opens the topics of one namespace for a command. */
abstract class TopicCommand extends AdminCommand {
  static final String TOPIC = "As 'topics' names it.";

  /** MySQL is opened when something is to be changed, or Redis does not know the topic. */
  final int with(ConfigOption config, ToIntFunction<Topics> work) {
    try (CommandServers servers = new CommandServers(config, spec())) {
      int exitCode =
          work.applyAsInt(new Topics(servers.redis(), servers.slots(), servers::mysql, actor()));
      out().flush();
      return exitCode;
    }
  }
}
