/**
 * gameq without servers, for unit tests of games. Rows and changes are checked, staged and
 * committed by the code of a real node; what Redis and MySQL do is done in memory.
 */
@NullMarked
package io.gameq.test;

import org.jspecify.annotations.NullMarked;
