/**
 * The exchange of a request and its response: routed, queued, forwarded, ended, and its time and
 * memory limits.
 */
@NullMarked
package dev.activator.proxy.exchange;

import org.jspecify.annotations.NullMarked;
