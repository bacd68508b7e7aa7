/**
 * The decisions of a revision's watcher as pure functions: {@link RevisionProbingState#decide}, by {@link
 * ProbePolicy#serves}.
 */
@NullMarked
package dev.activator.backend.policy;

import org.jspecify.annotations.NullMarked;
