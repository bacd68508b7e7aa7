/**
 * Pages that show what the stages publish, and say why requests wait. They read snapshots and follow
 * changes, and decide nothing.
 */
@NullMarked
package dev.activator.console;

import org.jspecify.annotations.NullMarked;
