package io.gameq.config;

import io.gameq.Pressure;

/**
 * A threshold of the backlog; immutable.
 *
 * @param of what is measured
 * @param value from which on it is passed, in the unit of {@code of}
 * @param policy what becomes of commits then
 */
public record PressureLimit(Pressure.Of of, double value, PushBack policy) {}
