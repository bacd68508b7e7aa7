/**
 * What a watcher does next, as functions of values. Nothing here knows a thread, a socket or a
 * clock.
 */
@NullMarked
package dev.activator.backend.policy;

import org.jspecify.annotations.NullMarked;
