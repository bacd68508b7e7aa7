/**
 * What the autoscaler is told, as functions of values: requests over time, and what they come to;
 * and how long to wait before it is called again.
 */
@NullMarked
package dev.activator.stats.policy;

import org.jspecify.annotations.NullMarked;
