package io.gameq.healing;

import io.gameq.owner.DurableSessions;

/**
 * What healing asks MySQL, since Redis is a cache of it: which session owns, and what became of
 * halves of trades.
 */
public record DurableTruth(DurableSessions sessions, LostHalves halves) {}
