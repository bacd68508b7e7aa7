/** The decisions of a revision's watcher as pure functions. */
@NullMarked
package dev.activator.backend.policy;

import org.jspecify.annotations.NullMarked;
