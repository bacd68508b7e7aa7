package dev.activator.embedded.runtime.policy;

/**
 * An entry of {@code spec.traffic} of a Knative Service.
 *
 * @param tag the first part of the name of a separate host; empty for none
 * @param revision the name of a revision; empty for the latest ready one
 * @param percent the share of the requests to the Service's host
 */
public record TrafficTarget(String tag, String revision, int percent) {
  /** The part of a tag's host before the namespace. */
  public static String host(String tag, String service) {
    return tag + "-" + service;
  }

  public boolean latest() {
    return revision.isEmpty();
  }
}
