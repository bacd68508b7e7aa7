/**
 * Processes of the machine, and one that is none: how they start, what they print, how they end
 * with all their children.
 */
@NullMarked
package dev.activator.embedded.runtime.process;

import org.jspecify.annotations.NullMarked;
