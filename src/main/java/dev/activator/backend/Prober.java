package dev.activator.backend;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.revision.Destination;
import java.util.function.Consumer;

/**
 * Finds out whether an address takes requests of one revision.
 *
 * <p>
 * <b>Threads.</b> Called on the revision's loop, and answers there, once, later.
 *
 * <p>
 * <b>Errors.</b> None are thrown: whatever goes wrong is an outcome.
 */
@FunctionalInterface
interface Prober {
  void probe(Destination destination, Consumer<ProbeOutcome> done);
}
