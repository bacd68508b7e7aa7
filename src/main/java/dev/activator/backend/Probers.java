package dev.activator.backend;

import dev.activator.loop.Loop;
import dev.activator.revision.Revision;

/** Makes the prober of each revision. */
@FunctionalInterface
interface Probers {
  Prober of(Revision revision, Loop loop);
}
