package dev.activator.observability;

import dev.activator.observability.RequestPhases.PodStart;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The starts from zero that requests waited for, as an extension records them.
 *
 * <p><b>Threads.</b> Any may call.
 */
public interface ColdStarts {
  /** Records nothing. */
  ColdStarts NONE = new ColdStarts() {
    @Override
    public List<ColdStart> latest() {
      return List.of();
    }

    @Override
    public @Nullable OngoingColdStart view(RevisionId id) {
      return null;
    }

    @Override
    public @Nullable Duration listedFor(RevisionId id) {
      return null;
    }

    @Override
    public void onStart(Consumer<RevisionId> listener) {}

    @Override
    public Consumer<RequestOutcome> answeredEarly(RequestTimeline request, int status) {
      return _ -> {
      };
    }
  };

  /**
   * A request that came while no pod of its revision answered probes.
   *
   * @param start the phases pod and probe in more detail, in nanoseconds; empty if that is no
   *     longer known
   */
  record ColdStart(RevisionId revision, Instant when, RequestPhases phases,
      Map<StartPhase, Long> start, RequestOutcome outcome, int status) {

    public ColdStart {
      start = Collections.unmodifiableMap(new TreeMap<>(start));
    }
  }

  /** A start that a request waits for. */
  interface AwaitedStart {
    PodStart until(long now);

    /**
     * The ends of its phases by the loops' clock, without those that have not ended or are unknown.
     */
    Map<StartPhase, Long> ends();
  }

  /** The last requests of cold starts, the newest first. */
  List<ColdStart> latest();

  /**
   * The start in progress of a revision; null if a pod answers, or if the revision has no pods and
   * no requests.
   */
  @Nullable OngoingColdStart view(RevisionId id);

  /**
   * How long the first pod of a starting revision has been listed; null if a pod answers, or if no
   * pod is listed.
   */
  @Nullable Duration listedFor(RevisionId id);

  /** Sets a listener that is called with each revision whose start is recorded as answered. */
  void onStart(Consumer<RevisionId> listener);

  /**
   * Records a start whose request was answered before its revision was ready.
   *
   * @param status of that answer
   * @return call at the end of the start, with its outcome
   */
  Consumer<RequestOutcome> answeredEarly(RequestTimeline request, int status);

  /** A start from zero that is in progress. */
  interface OngoingColdStart {
    /** The phase in progress. */
    StartPhase current();

    /** Whether the status of pods is read. */
    boolean podsRead();

    /** The durations of the phases in nanoseconds; the last phase is in progress. */
    Map<StartPhase, Long> phases(Duration awaited);

    /** The name of the pod; empty if unknown. */
    String pod();

    /** Why the pod makes no progress, in one word; otherwise empty. */
    String reason();

    String message();
  }
}
