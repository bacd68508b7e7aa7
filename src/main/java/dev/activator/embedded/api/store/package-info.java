/**
 * The kinds and objects, the order of all writes, how writes are checked and completed, and patches.
 */
@NullMarked
package dev.activator.embedded.api.store;

import org.jspecify.annotations.NullMarked;
