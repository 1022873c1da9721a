/** How gameq logs what happens again and again. */
@NullMarked
package io.gameq.log;

import org.jspecify.annotations.NullMarked;
