/**
 * The words every stage shares: what a revision is, where its requests can go. Values only; nothing
 * here does anything.
 */
@NullMarked
package dev.activator.revision;

import org.jspecify.annotations.NullMarked;
