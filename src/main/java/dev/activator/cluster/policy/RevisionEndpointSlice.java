package dev.activator.cluster.policy;

import dev.activator.revision.PortProtocol;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of a revision's pods, or of its activators, as one Endpoints object or
 * EndpointSlice lists them.
 *
 * @param revisionUid empty if unknown
 */
public record RevisionEndpointSlice(Owner owner, String revisionUid, List<Subset> subsets) {
  public RevisionEndpointSlice {
    subsets = List.copyOf(subsets);
  }

  /** Sets {@code since} of each address, because a handler does not see every version. */
  public RevisionEndpointSlice after(@Nullable RevisionEndpointSlice before, String version) {
    var known = new HashMap<Member, String>();
    if (before != null) {
      before.subsets.forEach(subset -> subset.members
          .forEach(member -> known.putIfAbsent(member.readiness(), member.since)));
    }
    return new RevisionEndpointSlice(owner, revisionUid, subsets.stream().map(subset -> new Subset(
        subset.ports, subset.members.stream().map(member -> member
            .since(known.getOrDefault(member.readiness(), version))).toList()))
        .toList());
  }

  public record Subset(Ports ports, List<Member> members) {
    public Subset {
      members = List.copyOf(members);
    }
  }

  public enum Role {
    /** Behind the private Service. */
    PODS,
    /** The addresses of the public Service, while activators are in the path. */
    ACTIVATORS
  }

  public record Owner(RevisionId revision, Role role) {
    @Override
    public String toString() {
      return role + " of " + revision;
    }
  }

  /** The ports by name. */
  public record Ports(@Nullable Integer http1, @Nullable Integer h2c) {
    public static final Ports NONE = new Ports(null, null);

    public @Nullable Integer on(PortProtocol protocol) {
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
   * @param pod the same for all addresses of a pod; empty if unknown
   * @param ip without brackets
   * @param since the resourceVersion in which it appeared or last changed readiness; empty if
   * unknown
   */
  public record Member(String pod, String ip, Condition condition, String since) {
    public Member(String pod, String ip, Condition condition) {
      this(pod, ip, condition, "");
    }

    Member since(String version) {
      return new Member(pod, ip, condition, version);
    }

    /** Equal in two versions of the object if the pod's address has the same readiness. */
    private Member readiness() {
      return new Member(pod, ip, condition.isReady() ? Condition.READY : Condition.NOT_READY);
    }
  }

  public enum Condition {
    READY,
    NOT_READY,
    /** Still serves; used only if nothing else does. */
    TERMINATING,
    /** Terminating, and no longer serves. */
    GONE;

    boolean isReady() {
      return this == READY || this == TERMINATING;
    }

    /**
     * <b>Source.</b> {@code EndpointConditions} in {@code k8s.io/api/discovery/v1/types.go}: unset
     * {@code ready} means true, unset {@code serving} means {@code ready}, unset
     * {@code terminating} means false.
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
