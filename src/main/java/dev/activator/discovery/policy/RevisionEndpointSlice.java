package dev.activator.discovery.policy;

import dev.activator.revision.PortProtocol;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The addresses in one Endpoints object or EndpointSlice of a revision. They belong to pods or
 * activators.
 *
 * @param revisionUid empty if unknown
 */
public record RevisionEndpointSlice(Owner owner, String revisionUid, List<Subset> subsets) {
  public RevisionEndpointSlice {
    subsets = List.copyOf(subsets);
  }

  /**
   * A copy with {@code since} set for each address. This is computed in the store, because handlers
   * do not see every version.
   */
  public RevisionEndpointSlice after(@Nullable RevisionEndpointSlice before, String version) {
    var known = new HashMap<Member, String>();
    if (before != null) {
      for (var subset : before.subsets) {
        for (var member : subset.members) {
          known.putIfAbsent(member.readiness(), member.since);
        }
      }
    }
    var dated = new ArrayList<Subset>(subsets.size());
    for (var subset : subsets) {
      var members = new ArrayList<Member>(subset.members.size());
      for (var member : subset.members) {
        members.add(member.since(known.getOrDefault(member.readiness(), version)));
      }
      dated.add(new Subset(subset.ports, members));
    }
    return new RevisionEndpointSlice(owner, revisionUid, dated);
  }

  public record Subset(Ports ports, List<Member> members) {
    public Subset {
      members = List.copyOf(members);
    }
  }

  public enum Role {
    /** The pods, which the private Service lists. */
    PODS,
    /** The activators, which the public Service lists while they are in the request path. */
    ACTIVATORS
  }

  public record Owner(RevisionId revision, Role role) {
    @Override
    public String toString() {
      return role + " of " + revision;
    }
  }

  /** The port of each protocol; null if it is missing. */
  public record Ports(@Nullable Integer http1, @Nullable Integer h2c) {
    public static final Ports NONE = new Ports(null, null);

    public @Nullable Integer on(PortProtocol protocol) {
      return switch (protocol) {
        case HTTP1, NEGOTIATED, TCP -> http1;
        case H2C -> h2c;
      };
    }

    public boolean isNone() {
      return http1 == null && h2c == null;
    }
  }

  /**
   * @param pod identifies the pod, for all of its addresses; empty if unknown
   * @param ip an address without brackets
   * @param since the resourceVersion in which the address appeared or last changed its readiness;
   *     empty if unknown
   */
  public record Member(String pod, String ip, Condition condition, String since) {
    public Member(String pod, String ip, Condition condition) {
      this(pod, ip, condition, "");
    }

    Member since(String version) {
      return new Member(pod, ip, condition, version);
    }

    /**
     * A value that is equal in two versions of the object if the readiness of the address has not
     * changed.
     */
    private Member readiness() {
      return new Member(pod, ip, condition.isReady() ? Condition.READY : Condition.NOT_READY);
    }
  }

  public enum Condition {
    READY,
    NOT_READY,
    /** Terminating, but still serving. It is used only if no other pod is ready. */
    TERMINATING,
    /** Terminating, and no longer serves. */
    GONE;

    boolean isReady() {
      return this == READY || this == TERMINATING;
    }

    /**
     * The condition of an endpoint. <b>Source.</b> {@code EndpointConditions} in
     * {@code k8s.io/api/discovery/v1/types.go}: unset {@code ready} means true, unset
     * {@code serving} means {@code ready}, unset {@code terminating} means false. A Service with
     * {@code publishNotReadyAddresses} calls all its pods {@code ready}; then {@code serving} is
     * the pod's readiness.
     */
    public static Condition of(@Nullable Boolean ready, @Nullable Boolean serving,
        @Nullable Boolean terminating) {
      boolean isReady = ready == null || ready;
      if (terminating == null || !terminating) {
        return isReady && (serving == null || serving) ? READY : NOT_READY;
      }
      return (serving == null ? isReady : serving) ? TERMINATING : GONE;
    }
  }
}
