package dev.activator.embedded.api.cache;

/**
 * All objects of a kind at one revision. Both come together: there is no object newer than the
 * revision in it, and none missing that is not.
 *
 * @param objects in order of their keys
 * @param revision of the whole store
 */
public record CacheSnapshot(SortedObjects objects, long revision) {}
