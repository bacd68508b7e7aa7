/**
 * Admits requests. Each revision has one queue and one set of permits, so that no pod ever runs
 * more requests than its container concurrency.
 */
@NullMarked
package dev.activator.throttle;

import org.jspecify.annotations.NullMarked;
