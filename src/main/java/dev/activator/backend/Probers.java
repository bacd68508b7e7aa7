package dev.activator.backend;

import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;

/** Makes the prober of each revision. */
@FunctionalInterface
interface Probers {
  Prober of(RevisionId revision, Loop loop);
}
