/**
 * The writer's configuration file.
 *
 * <pre>
 * settings.txt -&gt; DeclaredSetting: name, default, range
 *                       |
 * gameq.yaml -&gt; ConfigReader: ${ENV} filled in, checked -&gt; WriterConfig
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.config;
