/**
 * Admits requests. {@code Throttler} finds the {@code RevisionThrottler} of a revision, which has one queue,
 * {@code RevisionQueue}, and one set of permits, {@code RevisionPermits}, so that no pod ever runs more requests than its
 * container concurrency.
 */
@NullMarked
package dev.activator.throttle;

import org.jspecify.annotations.NullMarked;
