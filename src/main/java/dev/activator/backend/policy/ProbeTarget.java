package dev.activator.backend.policy;

import dev.activator.revision.Destination;

/** What a probe is sent to. */
public sealed interface ProbeTarget {
  Destination destination();

  /** One pod, at its own address. */
  record Pod(Destination destination) implements ProbeTarget {}

  /** The address of the revision's private Service, behind which all its ready pods are. */
  record ClusterIp(Destination destination) implements ProbeTarget {}
}
