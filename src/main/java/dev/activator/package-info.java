/**
 * The wiring: what the features are given, and in which order they start and stop. Nothing else
 * here decides anything.
 */
@NullMarked
package dev.activator;

import org.jspecify.annotations.NullMarked;
