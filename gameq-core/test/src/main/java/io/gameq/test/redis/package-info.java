/** What tests that run on servers have in Redis. Internal. */
@NullMarked
package io.gameq.test.redis;

import org.jspecify.annotations.NullMarked;
