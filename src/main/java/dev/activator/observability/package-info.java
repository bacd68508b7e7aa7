/** Metrics, traces and logs. Observers decide what is recorded of a request's steps. */
@NullMarked
package dev.activator.observability;

import org.jspecify.annotations.NullMarked;
