@org.jspecify.annotations.NullMarked
package io.gameq.lab.compare;
