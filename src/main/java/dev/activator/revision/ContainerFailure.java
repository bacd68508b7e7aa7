package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * The reason why a revision's containers do not start, taken from the status of its pods.
 *
 * @param failure null if a pod may still start, or if nothing is known
 */
public record ContainerFailure(RevisionId revision, @Nullable RevisionStartFailure failure) {}
