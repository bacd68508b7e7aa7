package dev.activator.embedded.runtime.policy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which revisions get the requests to a Service and to its tags.
 *
 * <p><b>Source.</b> {@code pkg/reconciler/route/traffic} in Knative Serving.
 */
public sealed interface TrafficAssignment {
  /**
   * An entry of {@code spec.traffic} of a Knative Service.
   *
   * @param tag the first part of the name of a separate host; empty for none
   * @param revision the name of a revision; empty for the latest ready one
   * @param percent the share of the requests to the Service's host
   */
  record Target(String tag, String revision, int percent) {
    /** The part of a tag's host before the namespace. */
    public static String host(String tag, String service) {
      return tag + "-" + service;
    }

    public boolean latest() {
      return revision.isEmpty();
    }
  }

  /** @param shares no two have the same tag, revision and kind of target */
  record Assigned(List<Share> shares) implements TrafficAssignment {
    /** The percentages by revision, of the requests to the Service's host. */
    public Map<String, Integer> percentages() {
      var sums = new LinkedHashMap<String, Integer>();
      shares.forEach(share -> sums.merge(share.revision(), share.percent(), Integer::sum));
      sums.values().removeIf(percent -> percent == 0);
      return sums;
    }

    public Set<String> revisions() {
      return shares.stream().map(Share::revision).collect(Collectors.toSet());
    }
  }

  /**
   * A target cannot get requests, so the previous assignment stays.
   *
   * @param failed whether it will not become ready by itself
   */
  record Unassigned(boolean failed, String reason, String message) implements TrafficAssignment {}

  /** @param latest whether the target is the latest revision, whichever that is */
  record Share(String tag, String revision, int percent, boolean latest) {
    private boolean isLike(Share other) {
      return tag.equals(other.tag) && revision.equals(other.revision) && latest == other.latest;
    }
  }

  /** The state of a revision that a target names. */
  sealed interface TargetState {
    enum Known implements TargetState {
      READY,
      NOT_READY,
      FAILED,
      MISSING
    }

    /** @param owner the Service that owns it; empty if it has none */
    record OfOther(String owner) implements TargetState {}
  }

  /**
   * @param latest the revision that gets the requests to the latest one
   * @param states the state of a revision by its name
   */
  static TrafficAssignment of(String service, List<Target> targets, String latest,
      Function<String, TargetState> states) {
    var shares = new ArrayList<Share>();
    Unassigned problem = null;
    for (var target : targets) {
      var share = new Share(target.tag(), target.latest() ? latest : target.revision(),
          target.percent(), target.latest());
      var found = target.latest()
          ? null
          : problem(service, share.revision(), states.apply(share.revision()));
      // As in Knative, the last problem that does not pass by itself is the one that is shown.
      if (found != null && (problem == null || found.failed())) {
        problem = found;
      }
      add(shares, share);
    }
    return problem == null ? new Assigned(List.copyOf(shares)) : problem;
  }

  private static void add(List<Share> shares, Share share) {
    for (int i = 0; i < shares.size(); i++) {
      var present = shares.get(i);
      if (present.isLike(share)) {
        shares.set(i, new Share(present.tag(), present.revision(),
            present.percent() + share.percent(), present.latest()));
        return;
      }
    }
    shares.add(share);
  }

  private static @Nullable Unassigned problem(String service,
      String revision, TargetState state) {
    String quoted = "Revision \"" + revision + "\"";
    return switch (state) {
      case TargetState.Known.READY -> null;
      case TargetState.Known.NOT_READY ->
        new Unassigned(false, "RevisionMissing", quoted + " is not yet ready.");
      case TargetState.Known.FAILED ->
        new Unassigned(true, "RevisionMissing", quoted + " failed to become ready.");
      case TargetState.Known.MISSING ->
        new Unassigned(true, "RevisionMissing", quoted + " referenced in traffic not found.");
      case TargetState.OfOther(String owner) ->
        new Unassigned(true, "RevisionNotOwned", owner.isEmpty()
            ? quoted + " does not belong to Service \"" + service + "\"."
            : quoted + " belongs to Service \"" + owner + "\", not Service \"" + service + "\".");
    };
  }
}
