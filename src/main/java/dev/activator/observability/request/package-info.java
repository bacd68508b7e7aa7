/**
 * One request as observers see it, and the observers: its metrics, its spans and its log line.
 */
@NullMarked
package dev.activator.observability.request;

import org.jspecify.annotations.NullMarked;
