package dev.activator.cluster.policy;

import dev.activator.revision.Protocol;
import dev.activator.revision.RevisionId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one EndpointSlice or Endpoints object lists for a revision's Service. Several together may list
 * the whole.
 *
 * @param owner whose addresses they are
 * @param revisionUid of the revision it was made for; empty if it does not say
 * @param subsets addresses by the ports they share
 */
public record EndpointSet(Owner owner, String revisionUid, List<Subset> subsets) {
  public EndpointSet {
    subsets = List.copyOf(subsets);
  }

  /**
   * Addresses with the same ports.
   *
   * @param members in the order of the object; the same may be elsewhere as well
   */
  public record Subset(Ports ports, List<Member> members) {
    public Subset {
      members = List.copyOf(members);
    }
  }

  /** What is behind the Service. */
  public enum Role {
    /** The revision's pods: its private Service. */
    PODS,
    /** While they are in the path, the activators: its public Service. */
    ACTIVATORS
  }

  /** A Service of a revision. */
  public record Owner(RevisionId revision, Role role) {
    @Override
    public String toString() {
      return role + " of " + revision;
    }
  }

  /**
   * Ports by the protocol they are named for; null where there is none of that name, or one without
   * a number.
   */
  public record Ports(@Nullable Integer http1, @Nullable Integer h2c) {
    public static final Ports NONE = new Ports(null, null);

    public @Nullable Integer on(Protocol protocol) {
      return switch (protocol) {
        case HTTP1 -> http1;
        case H2C -> h2c;
      };
    }

    public boolean isNone() {
      return http1 == null && h2c == null;
    }
  }

  /**
   * One address.
   *
   * @param pod the same for all addresses of a pod; empty if it is not said
   * @param ip its address, without brackets
   * @param condition what Kubernetes says of it
   */
  public record Member(String pod, String ip, Condition condition) {}

  /** What Kubernetes says of an address. */
  public enum Condition {
    READY, NOT_READY,
    /** It is ending, and still takes requests: for when nothing else does. */
    LEAVING,
    /** It is ending, and takes none any more. */
    GONE;

    /**
     * What the three conditions of an endpoint come to; each is null where it is not said.
     *
     * <p>
     * <b>Source.</b> {@code EndpointConditions} in {@code k8s.io/api/discovery/v1/types.go}: an
     * unknown {@code ready} is to be taken for true, an unknown {@code serving} for {@code ready},
     * an unknown {@code terminating} for false.
     */
    public static Condition of(@Nullable Boolean ready, @Nullable Boolean serving,
        @Nullable Boolean terminating) {
      boolean isReady = ready == null || ready;
      if (terminating == null || !terminating) {
        return isReady ? READY : NOT_READY;
      }
      return (serving == null ? isReady : serving) ? LEAVING : GONE;
    }
  }
}
