package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * Whether a revision's pods can start, as the pods themselves say.
 *
 * @param failure null when one may, or when unknown
 */
public record StartTrouble(RevisionId revision, @Nullable RevisionStartFailure failure) {}
