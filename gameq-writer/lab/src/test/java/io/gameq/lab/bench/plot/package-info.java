@org.jspecify.annotations.NullMarked
package io.gameq.lab.bench.plot;
