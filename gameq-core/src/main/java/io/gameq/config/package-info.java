/** The settings of a game node. */
@NullMarked
package io.gameq.config;

import org.jspecify.annotations.NullMarked;
