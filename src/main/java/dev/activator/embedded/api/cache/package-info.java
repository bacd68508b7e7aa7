/**
 * The watch cache: the newest state of each kind, the last events before it, and the watches. Lists
 * and watches never read the store, so that clients see the behaviour of a cluster: stale reads,
 * 410, bookmarks, slow watches. State is used on one loop, unless a type says otherwise.
 */
@NullMarked
package dev.activator.embedded.api.cache;

import org.jspecify.annotations.NullMarked;
