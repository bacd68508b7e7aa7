/**
 * One request and its response, in either version of HTTP: routed, queued, forwarded, and ended, with
 * a limit to each of its times.
 */
@NullMarked
package dev.activator.proxy.exchange;

import org.jspecify.annotations.NullMarked;
