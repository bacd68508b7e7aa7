/**
 * When listeners are told again of what did not change. Values only, no timers.
 */
@NullMarked
package dev.activator.cluster.informer.policy;

import org.jspecify.annotations.NullMarked;
