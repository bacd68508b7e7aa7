/**
 * One request and its response, whichever version of HTTP its caller speaks: it waits, is forwarded,
 * fails or ends, and its time is limited.
 */
@NullMarked
package dev.activator.proxy.exchange;

import org.jspecify.annotations.NullMarked;
