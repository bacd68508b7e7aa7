/**
 * The rules of a revision: which requests do not wake it, what others get instead of waiting for its
 * start, and when its silent connections no longer count.
 */
@NullMarked
package dev.activator.ext.rules;

import org.jspecify.annotations.NullMarked;
