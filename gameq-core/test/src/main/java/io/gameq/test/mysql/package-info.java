/** The database of tests that run on servers. Internal. */
@NullMarked
package io.gameq.test.mysql;

import org.jspecify.annotations.NullMarked;
