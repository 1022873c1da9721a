/**
 * A game node within a writer's process, where {@code node} is configured: it has a WAL, so that
 * messages which come over HTTP, or from plug-ins, survive what those of games survive.
 *
 * <pre>
 * WriterNode     the node, from its start to its close
 *   PluginJars   handlers from jars: each a TopicPlugin
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.node;
