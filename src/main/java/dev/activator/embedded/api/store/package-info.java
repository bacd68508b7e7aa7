/** The store of kinds and objects: the order of writes, their checks, and patches. */
@NullMarked
package dev.activator.embedded.api.store;

import org.jspecify.annotations.NullMarked;
