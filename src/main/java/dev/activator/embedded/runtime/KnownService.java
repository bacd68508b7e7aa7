package dev.activator.embedded.runtime;

import java.util.HashSet;
import java.util.Set;

/**
 * What the controller knows about a Knative Service.
 *
 * <p><b>Threads.</b> One loop.
 */
final class KnownService {
  /** The generation that was reconciled last. */
  long generation = -1;
  String newest = "";
  /**
   * The last revision that was ready. It stays the latest ready one even if its process fails
   * later. Empty if there is none.
   */
  String ready = "";
  /**
   * The revision that gets the requests to the latest one: the last that was ready, or the newest
   * if there is none.
   */
  String latest = "";
  /** The revisions that have been ready once. */
  final Set<String> proven = new HashSet<>();
}
