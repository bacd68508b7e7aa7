package dev.activator.console;

import dev.activator.console.policy.State;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why requests of a revision wait, as JSON: the sentence for people first, then what it was drawn
 * from.
 *
 * @param summary in a sentence
 * @param state in a word
 * @param missing what would have to be otherwise, a line each
 * @param revision {@code namespace/name}
 * @param requests who runs and waits; null where there is no such revision, as all that follows
 * @param pods those that Kubernetes lists
 * @param clusterIp the private Service's address, and its probe; null while it has none
 * @param start what is known of the start of its pods
 * @param activator which of the activators this one is
 * @param autoscaler the link to it
 * @param kubernetes how the API is heard
 */
public record RevisionReport(String summary, State state, List<String> missing, String revision,
    @Nullable Requests requests, @Nullable List<PodReport> pods, @Nullable PodReport clusterIp,
    @Nullable StartReport start, @Nullable ActivatorReport activator,
    @Nullable LinkReport autoscaler, @Nullable ApiState kubernetes) {

  /**
   * Who runs and who waits.
   *
   * @param capacity requests that may run at once; null for any number
   * @param containerConcurrency requests one pod may run at once; 0 for any number
   * @param queueTimeoutSeconds how long one may wait; null for no limit but the revision's own
   */
  public record Requests(int inFlight, int queued, int queueCapacity, double oldestWaitSeconds,
      long heldBytes, @Nullable Double queueTimeoutSeconds, @Nullable Integer capacity,
      int containerConcurrency) {}

  /**
   * One address.
   *
   * @param ready whether Kubernetes calls it ready
   * @param answers whether it answered our probe
   * @param serves whether requests may be sent to it
   * @param setAside whether a request could not be delivered there a moment ago
   * @param inFlight requests that run there by way of this activator
   * @param probe the last one
   */
  public record PodReport(String address, boolean ready, boolean answers, boolean serves,
      boolean setAside, int inFlight, ProbeReport probe) {}

  /**
   * The last probe of an address.
   *
   * @param outcome in words
   * @param secondsAgo since its end; null before the first came to one
   * @param roundTripMillis from its start to its end; null before the first came to one
   * @param failuresInARow since it last answered, or since there was other news of it
   * @param underWay whether the next one was sent
   */
  public record ProbeReport(String outcome, @Nullable Double secondsAgo,
      @Nullable Double roundTripMillis, int failuresInARow, boolean underWay) {}

  /**
   * The start of its pods.
   *
   * @param askedSecondsAgo since the first request found no room; null while there is some
   * @param usualSeconds how long it takes as a rule; null if unknown
   * @param failure why its containers do not start; null while nothing is known to be wrong
   */
  public record StartReport(@Nullable Double askedSecondsAgo, @Nullable Double usualSeconds,
      @Nullable FailureReport failure) {}

  /** Why containers do not start. */
  public record FailureReport(String reason, String message) {}

  /**
   * Which of the activators in the revision's path this one is.
   *
   * @param index from 0; null while unknown
   * @param count null while unknown
   */
  public record ActivatorReport(@Nullable Integer index, @Nullable Integer count) {}

  /**
   * The link to the autoscaler.
   *
   * @param forSeconds how long it has been as it is
   * @param problem why it is down; null while it is not
   */
  public record LinkReport(boolean connected, String url, double forSeconds, int failedAttempts,
      @Nullable String problem) {}
}
