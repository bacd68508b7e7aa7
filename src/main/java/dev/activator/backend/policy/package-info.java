/** A watcher's decisions as pure functions. */
@NullMarked
package dev.activator.backend.policy;

import org.jspecify.annotations.NullMarked;
