package dev.activator.embedded.runtime.policy;

/** What happens to a pod. A run is one life of its process; runs are counted from 1. */
public sealed interface PodEvent {
  /** Its sidecar listens on this port. */
  record Listening(int port) implements PodEvent {}

  /** Its sidecar cannot listen. */
  record CannotListen(Exit exit) implements PodEvent {}

  /** The pause after its sidecar could not listen is over. */
  record ListenPauseOver() implements PodEvent {}

  /** The process of this run does, or does not, take requests. */
  record Checked(int run, boolean ready) implements PodEvent {}

  /** The process of this run has been ready for so long that earlier failures do not count. */
  record Settled(int run) implements PodEvent {}

  /** The process of this run ended, or could not be started. */
  record Exited(int run, Exit exit) implements PodEvent {}

  /** The pause after this run is over. */
  record PauseOver(int run) implements PodEvent {}

  /** It is not wanted any more. */
  record Stop() implements PodEvent {}

  /** Its sidecar has no requests any more, or was given enough time. */
  record Drained() implements PodEvent {}
}
