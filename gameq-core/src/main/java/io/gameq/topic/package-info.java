/** Topics: messages that travel as rows do, to handlers. */
@NullMarked
package io.gameq.topic;

import org.jspecify.annotations.NullMarked;
