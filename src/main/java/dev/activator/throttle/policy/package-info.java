/**
 * The decisions of the throttle as functions of values: which pods are this activator's, which one
 * is next, and who runs, waits or is refused. Nothing here knows a thread, a clock or a socket.
 */
@NullMarked
package dev.activator.throttle.policy;

import org.jspecify.annotations.NullMarked;
