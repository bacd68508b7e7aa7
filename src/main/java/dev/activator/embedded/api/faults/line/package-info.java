/**
 * Faults of a connection: bytes and messages that are late, in pieces, changed or lost.
 */
@NullMarked
package dev.activator.embedded.api.faults.line;

import org.jspecify.annotations.NullMarked;
