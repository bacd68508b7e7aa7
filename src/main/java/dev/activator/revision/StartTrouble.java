package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * What a revision's pods say of their own start.
 *
 * @param revision whose
 * @param failure why none of them will start as things are; null when that is not so, or not known
 *     any more
 */
public record StartTrouble(RevisionId revision, @Nullable StartFailure failure) {}
