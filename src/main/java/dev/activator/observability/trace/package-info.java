/**
 * Spans of requests, and where they are sent.
 */
@NullMarked
package dev.activator.observability.trace;

import org.jspecify.annotations.NullMarked;
