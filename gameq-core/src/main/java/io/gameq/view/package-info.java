/** What an owner has, merged from Redis and MySQL. */
@org.jspecify.annotations.NullMarked
package io.gameq.view;
