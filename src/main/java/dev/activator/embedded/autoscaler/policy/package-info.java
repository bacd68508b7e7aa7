/**
 * How many pods a revision should have, as a function of what was reported and when. Seconds are
 * counted from any origin and are given, never read.
 */
@NullMarked
package dev.activator.embedded.autoscaler.policy;

import org.jspecify.annotations.NullMarked;
