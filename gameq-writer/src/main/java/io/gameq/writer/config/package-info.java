/**
 * The writer's configuration file.
 *
 * <pre>
 * gameq.yaml -&gt; ConfigReader: each setting, declared once; ${ENV} -&gt; WriterConfig
 *                                  |
 *                                  +-&gt; EffectiveSettings: what each came to, and where from
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.writer.config;
