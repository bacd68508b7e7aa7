/**
 * Each revision has one queue and one set of permits, so no pod ever runs more than its container
 * concurrency.
 */
@NullMarked
package dev.activator.throttle;

import org.jspecify.annotations.NullMarked;
