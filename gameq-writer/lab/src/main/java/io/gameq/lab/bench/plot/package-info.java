/**
 * Draws growth curves as SVG, from the JSON of a result; GrowthPlots says why without a library.
 *
 * <pre>
 * GrowthPlots   one file for each curve: growth-players.svg ...
 *   Panel       axes, lines and a legend: rates to the left, latencies to the right
 *     LogScale  from values to pixels
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.bench.plot;
