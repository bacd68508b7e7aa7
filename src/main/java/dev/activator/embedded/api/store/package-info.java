/**
 * The objects, and the one order of all changes to them; what a write is checked for and completed with.
 */
@NullMarked
package dev.activator.embedded.api.store;

import org.jspecify.annotations.NullMarked;
