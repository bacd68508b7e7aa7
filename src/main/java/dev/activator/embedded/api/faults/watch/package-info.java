/**
 * Faults of a watch: events that are dropped, swapped, changed or made up on their way to its client.
 */
@NullMarked
package dev.activator.embedded.api.faults.watch;

import org.jspecify.annotations.NullMarked;
