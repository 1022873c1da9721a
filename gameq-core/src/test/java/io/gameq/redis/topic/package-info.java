@org.jspecify.annotations.NullMarked
package io.gameq.redis.topic;
