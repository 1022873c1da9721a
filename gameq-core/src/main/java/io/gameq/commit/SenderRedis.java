package io.gameq.commit;

import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
import java.util.concurrent.Executor;

/**
 * What a sender reaches Redis with.
 *
 * @param connector makes connections that nobody else uses
 * @param eventLoop the one thread on which those connections are served
 * @param clock measured anew on every connection
 * @param heartbeat given on every connection before anything else is told there
 */
public record SenderRedis(
    PrimaryConnector connector, Executor eventLoop, RedisClock clock, NodeHeartbeat heartbeat) {}
