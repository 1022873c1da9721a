/**
 * What holds for the whole project: a module of its own, since it looks at all others.
 *
 * <pre>
 * ArchitectureTest   layers, cycles, what may know which library; over all production classes
 * SourceFilesTest    widths of lines, no class name twice
 * PageNamesTest      pages name classes that are there
 * </pre>
 */
@NullMarked
package io.gameq.house;

import org.jspecify.annotations.NullMarked;
