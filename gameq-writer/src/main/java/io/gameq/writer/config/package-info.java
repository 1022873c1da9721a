/**
 * The writer's configuration file.
 *
 * <pre>
 * gameq.yaml -&gt; ConfigReader -&gt; Section (names, types, ${ENV}) -&gt; WriterConfig
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.config;
