package dev.activator.backend.policy;

import dev.activator.config.MeshMode;

/**
 * How the pods of all revisions can be reached.
 *
 * @param mesh whether a mesh may be in the way
 * @param passthrough whether the mesh lets single pods be addressed, given the right headers; then
 *     the ClusterIP is never used
 */
public record Addressing(MeshMode mesh, boolean passthrough) {
  /** As Knative is set up without a mesh in mind. */
  public static final Addressing DEFAULT = new Addressing(MeshMode.AUTO, false);

  /** Whether probes of pods mean anything. */
  public boolean podsAreProbed() {
    return mesh != MeshMode.ENABLED;
  }

  /** Whether requests may go to the ClusterIP when no pod answers. */
  public boolean clusterIpMayServe() {
    return mesh != MeshMode.DISABLED && !passthrough;
  }
}
