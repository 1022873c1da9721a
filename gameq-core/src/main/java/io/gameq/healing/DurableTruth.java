package io.gameq.healing;

/**
 * What healing asks MySQL, since Redis is a cache of it: which session owns, and what became of
 * halves of trades.
 */
public record DurableTruth(DurableSessions sessions, LostHalves halves) {}
