@org.jspecify.annotations.NullMarked
package io.gameq.lab.contender.redis;
