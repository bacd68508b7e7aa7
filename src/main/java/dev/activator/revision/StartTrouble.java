package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * Whether a revision's pods can start, as the pods themselves say.
 *
 * @param revision the revision they belong to
 * @param failure why none of them will start as things are; null when one may, or when it is not
 *     known any more
 */
public record StartTrouble(RevisionId revision, @Nullable StartFailure failure) {}
