/**
 * The watch cache: the newest state of each kind, the last events before it, and the watches. Lists
 * and watches never read the store, so that clients see what a cluster shows: old reads, 410,
 * bookmarks, slow watches. State lives on one loop, except where a type says otherwise.
 */
@NullMarked
package dev.activator.embedded.api.cache;

import org.jspecify.annotations.NullMarked;
