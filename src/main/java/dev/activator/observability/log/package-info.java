/**
 * Lines on standard output and error: the request log, and log events as JSON.
 */
@NullMarked
package dev.activator.observability.log;

import org.jspecify.annotations.NullMarked;
