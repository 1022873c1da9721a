/**
 * The writer's configuration file.
 *
 * <pre>
 * gameq.yaml -&gt; ConfigReader -&gt; Section (names, types, ${ENV}) -&gt; WriterConfig
 *                                  |
 *                                  +-&gt; HttpSection: who may ask over HTTP
 *                                  +-&gt; EffectiveSettings: what each came to, and where from
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.config;
