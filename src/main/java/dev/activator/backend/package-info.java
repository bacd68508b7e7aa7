/**
 * Which pods of a revision answer. Listings come in, probes go out, and what was found is
 * published whenever it changes.
 */
@NullMarked
package dev.activator.backend;

import org.jspecify.annotations.NullMarked;
