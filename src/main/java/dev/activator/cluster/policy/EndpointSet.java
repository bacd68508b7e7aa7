package dev.activator.cluster.policy;

import dev.activator.revision.Protocol;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
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
   * This set with the version in which each address came to be as it is. A handler is not told of
   * every version, and so cannot know that itself.
   *
   * @param before what the object said in the version before; null if it was not there
   * @param version of this one
   */
  public EndpointSet after(@Nullable EndpointSet before, String version) {
    var known = new HashMap<Member, String>();
    if (before != null) {
      before.subsets.forEach(subset -> subset.members
          .forEach(member -> known.putIfAbsent(member.readiness(), member.since)));
    }
    return new EndpointSet(owner, revisionUid, subsets.stream().map(subset -> new Subset(
        subset.ports, subset.members.stream().map(member -> member
            .since(known.getOrDefault(member.readiness(), version))).toList()))
        .toList());
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
   * @param since the resourceVersion in which it appeared, became ready or became not ready,
   *     whichever was last; empty if unknown
   */
  public record Member(String pod, String ip, Condition condition, String since) {
    /** As an object shows it, which does not say since when that is so. */
    public Member(String pod, String ip, Condition condition) {
      this(pod, ip, condition, "");
    }

    Member since(String version) {
      return new Member(pod, ip, condition, version);
    }

    /** Equal for versions between which the pod was neither gone nor changed its readiness. */
    private Member readiness() {
      return new Member(pod, ip, condition.isReady() ? Condition.READY : Condition.NOT_READY);
    }
  }

  /** What Kubernetes says of an address. */
  public enum Condition {
    READY, NOT_READY,
    /** It is ending, and still takes requests: for when nothing else does. */
    TERMINATING,
    /** It is ending, and takes none any more. */
    GONE;

    /** One that is ending and takes requests is as ready as before. */
    boolean isReady() {
      return this == READY || this == TERMINATING;
    }

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
      return (serving == null ? isReady : serving) ? TERMINATING : GONE;
    }
  }
}
