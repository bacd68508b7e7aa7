/**
 * The decisions of the throttle as functions of values: the pods of this activator, load balancing,
 * slow start, the order of the queue, and estimates of starts and of the queue's drain rate.
 */
@NullMarked
package dev.activator.throttle.policy;

import org.jspecify.annotations.NullMarked;
