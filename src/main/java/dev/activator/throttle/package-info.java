/**
 * Which request runs when, and where. One queue and one set of permits a revision, so that no pod
 * ever runs more than its container concurrency and nobody overtakes.
 */
@NullMarked
package dev.activator.throttle;

import org.jspecify.annotations.NullMarked;
