/**
 * Metrics, traces and logs. The request path records the steps of a request; observers decide what
 * becomes of them.
 */
@NullMarked
package dev.activator.observability;

import org.jspecify.annotations.NullMarked;
