/**
 * The watch cache: the newest state of each kind, the last events before it, and those who watch.
 * Lists and watches are served from here, never from the store, so that what clients meet in a
 * cluster (old reads, 410, bookmarks, slow watchers) they meet here.
 */
@NullMarked
package dev.activator.embedded.api.cache;

import org.jspecify.annotations.NullMarked;
