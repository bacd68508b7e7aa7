/** Traces, and metrics and log lines that are pushed, by OpenTelemetry. */
@NullMarked
package dev.activator.ext.otel;

import org.jspecify.annotations.NullMarked;
