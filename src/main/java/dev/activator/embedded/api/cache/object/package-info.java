/**
 * What the watch cache holds: objects by name and index, a state of all of them, one change, and
 * which of that a reader has asked for. All of it is values.
 */
@NullMarked
package dev.activator.embedded.api.cache.object;

import org.jspecify.annotations.NullMarked;
