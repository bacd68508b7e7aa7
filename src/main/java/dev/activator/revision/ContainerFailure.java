package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * Why a revision's containers do not start, by the status of its pods.
 *
 * @param failure null when one may, or when unknown
 */
public record ContainerFailure(RevisionId revision, @Nullable RevisionStartFailure failure) {}
