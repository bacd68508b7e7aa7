/**
 * The decisions of the throttle as functions of values: which pods are this activator's, which one
 * is next, how much a new pod gets, and how long starts and queues take.
 */
@NullMarked
package dev.activator.throttle.policy;

import org.jspecify.annotations.NullMarked;
