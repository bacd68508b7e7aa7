/**
 * The watch cache: the newest state of each kind, the last events before it, and the watches.
 * Lists and watches are served from here, never from the store, so that clients see what they see in
 * a cluster: old reads, 410, bookmarks, slow watches.
 */
@NullMarked
package dev.activator.embedded.api.cache;

import org.jspecify.annotations.NullMarked;
