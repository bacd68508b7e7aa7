/** Metrics, traces and logs. Observers record the steps of requests for them. */
@NullMarked
package dev.activator.observability;

import org.jspecify.annotations.NullMarked;
