/**
 * What requests and throttles say to each other: a permit, a place in the queue, a rejection. Whoever
 * waits is called back.
 */
@NullMarked
package dev.activator.throttle.admission;

import org.jspecify.annotations.NullMarked;
