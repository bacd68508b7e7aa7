package dev.activator.backend.policy;

import dev.activator.backend.policy.WatcherEvent.Addressed;
import dev.activator.backend.policy.WatcherEvent.Answered;
import dev.activator.backend.policy.WatcherEvent.Cancelled;
import dev.activator.backend.policy.WatcherEvent.Deleted;
import dev.activator.backend.policy.WatcherEvent.Due;
import dev.activator.backend.policy.WatcherEvent.Listed;
import dev.activator.backend.policy.WatcherEvent.PodAnswer;
import dev.activator.backend.policy.WatcherEvent.PodsAnswered;
import dev.activator.backend.policy.WatcherEvent.Suspected;
import java.time.Duration;
import java.util.List;

/**
 * What is known of one revision's pods, and what follows from each event. Scaled to zero is "none
 * listed", not a state of its own.
 *
 * <p>
 * <b>Source.</b> {@code revision_backends.go} of Knative Serving, where one check probes all pods
 * and then decides. Here each pod is on its own, and the decision is taken anew with each answer.
 */
public sealed interface WatcherState permits Watching, WatcherState.Stopped {

  /** The revision was deleted, or nobody listens. Answers still on their way are ignored. */
  record Stopped() implements WatcherState {}

  /** What holds next, and what the caller must now do, in this order. */
  record Step(WatcherState next, List<WatcherEffect> effects) {
    static Step to(WatcherState next, WatcherEffect... effects) {
      return new Step(next, List.of(effects));
    }
  }

  /** A revision of which nothing is known yet, and of which nothing was published. */
  static WatcherState of(Traits traits) {
    return Watching.of(traits);
  }

  private WatcherState at(Duration now) {
    return this instanceof Watching w ? w.at(now) : this;
  }

  record Cell(WatcherState state, WatcherEvent event) {}

  /**
   * The transition table, a line a cell. The compiler refuses a table with a hole.
   *
   * @param now since some origin; never goes back
   */
  default Step on(WatcherEvent event, Duration now) {
    return switch (new Cell(at(now), event)) {
      case Cell(Watching w, Listed(var pods)) -> w.relist(pods);
      case Cell(Watching w, Addressed(var clusterIp)) -> w.moveClusterIp(clusterIp);
      case Cell(Watching w, Answered(ProbeTarget.Pod(var pod), var outcome, var took)) ->
        w.podsAnswered(List.of(new PodAnswer(pod, outcome, took)));
      case Cell(Watching w, PodsAnswered(var answers)) -> w.podsAnswered(answers);
      case Cell(Watching w, Answered(ProbeTarget.ClusterIp(var ip), var outcome, var took)) ->
        w.clusterIpAnswered(ip, outcome, took);
      case Cell(Watching w, Due(ProbeTarget.Pod(var pod))) -> w.wake(pod);
      case Cell(Watching w, Due(ProbeTarget.ClusterIp(var ip))) -> w.wakeClusterIp(ip);
      case Cell(Watching w, Suspected(var destination)) -> w.suspect(destination);
      case Cell(Watching w, Deleted()) -> w.delete();
      case Cell(Watching w, Cancelled()) -> Step.to(new Stopped());
      case Cell(Stopped s, WatcherEvent late) -> Step.to(s);
    };
  }
}
