/**
 * Lines on standard output and error: templates of the request log, log events and spans as JSON.
 */
@NullMarked
package dev.activator.observability.log;

import org.jspecify.annotations.NullMarked;
