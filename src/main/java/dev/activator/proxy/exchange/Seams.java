package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.throttle.ThrottleDecision.Permit;
import io.netty.handler.codec.http.HttpRequest;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where observers and extensions are attached to the requests of a loop. {@link Router} has one more,
 * {@link Arrival}; {@link WaitReasons} are read by {@link RevisionStarts}.
 *
 * @param delivery null if requests are forwarded
 */
public record Seams(RequestObserver observer, RevisionStarts starts, WaitPolicy waitPolicy,
    TunnelWatcher tunnels, CountPolicy counting, @Nullable Delivery delivery) {
  /** Without extensions. */
  public static Seams of(LiveRevisions revisions, RequestObserver observer) {
    var starts = new RevisionStarts(revisions, false, _ -> StartStatus.UNKNOWN,
        RevisionStarts.EarlyAnswers.NONE);
    return new Seams(observer, starts, WaitPolicy.NONE, TunnelWatcher.NONE, CountPolicy.EACH, null);
  }

  Seams with(Delivery other) {
    return new Seams(observer, starts, waitPolicy, tunnels, counting, other);
  }

  /**
   * Decides about a request before it is counted or queued.
   *
   * <p><b>Threads.</b> Any loop; must not block.
   *
   * <p><b>Errors.</b> An exception is answered like a failed look-up of the revision.
   *
   * <p><b>Source.</b> {@code decodeHeaders} of Envoy's {@code StreamDecoderFilter}.
   */
  @FunctionalInterface
  public interface Arrival {
    Arrival NONE = (_, _, _, _) -> null;

    /**
     * The answer of a request that must not wait, and is neither queued nor counted.
     *
     * @param always whether the request gets it even if a pod could take the request now
     */
    record Instead(LocalResponse answer, RequestOutcome outcome, boolean always) {}

    /**
     * Returns null if the request may wait as usual.
     *
     * @param path path and query
     */
    @Nullable Instead of(Revision revision, String method, String path, HeaderFieldList fields);

    /** Whether a probe of a kubelet to a revision's host, for which {@link #of} has an answer, is for that revision. */
    default boolean takesKubeletProbes() {
      return false;
    }

    /**
     * Answers a probe of the network whose kind the router does not know; null if this does not know
     * it either.
     *
     * @param kind the value of {@code K-Network-Probe}
     * @param on of the loop that this is called on
     */
    default @Nullable LocalResponse probe(String kind, LiveRevision revision,
        RequestDispatcher on) {
      return null;
    }

    /** All of these as one; the first that decides wins. */
    static Arrival first(List<Arrival> all) {
      return all.isEmpty() ? NONE : new Arrival() {
        @Override
        public @Nullable Instead of(Revision revision, String method, String path,
            HeaderFieldList fields) {
          for (var one : all) {
            var instead = one.of(revision, method, path, fields);
            if (instead != null) {
              return instead;
            }
          }
          return null;
        }

        @Override
        public boolean takesKubeletProbes() {
          return all.stream().anyMatch(Arrival::takesKubeletProbes);
        }

        @Override
        public @Nullable LocalResponse probe(String kind, LiveRevision revision,
            RequestDispatcher on) {
          return all.stream().flatMap(one -> Stream.ofNullable(one.probe(kind, revision, on)))
              .findFirst().orElse(null);
        }
      };
    }
  }

  /**
   * Decides what a queued request gets instead of waiting until its revision has started. The start
   * continues. A function of values: the exchange carries out what it decides.
   *
   * <p><b>Threads.</b> Any loop; must not block.
   *
   * <p><b>Units.</b> Nanoseconds since the request was queued.
   *
   * <p><b>Source.</b> Envoy's {@code StopIteration}, after which a filter answers or continues.
   */
  public interface WaitPolicy {
    WaitPolicy NONE = new WaitPolicy() {
      @Override
      public long afterNanos(Request request) {
        return DeadlineCalculator.NONE;
      }

      @Override
      public Decision decide(Request request, StartStatus start, int retryAfterSeconds) {
        return new Unchanged();
      }
    };

    /**
     * A queued request.
     *
     * @param mayRedirect whether another revision may get it
     */
    record Request(Revision revision, String method, HeaderFieldList fields, boolean mayRedirect) {}

    /** What a request gets. */
    sealed interface Decision permits Unchanged, Answer, Redirect {}

    /** Nothing changes: a queued request stays queued, a rejected one fails. */
    record Unchanged() implements Decision {}

    record Answer(LocalResponse answer, RequestOutcome outcome) implements Decision {}

    record Redirect(LiveRevision to) implements Decision {}

    /** When {@link #decide} is called; 0 at once, {@link DeadlineCalculator#NONE} never. */
    long afterNanos(Request request);

    /** Called once that time has passed and the revision still takes no requests. */
    Decision decide(Request request, StartStatus start, int retryAfterSeconds);

    /** Called when the revision cannot start. */
    default Decision cannotStart(Request request) {
      return new Unchanged();
    }

    /** All of these as one; the first that has a time for a request decides about it. */
    static WaitPolicy first(List<WaitPolicy> all) {
      return all.isEmpty() ? NONE : new WaitPolicy() {
        @Override
        public long afterNanos(Request request) {
          for (var one : all) {
            long after = one.afterNanos(request);
            if (after != DeadlineCalculator.NONE) {
              return after;
            }
          }
          return DeadlineCalculator.NONE;
        }

        @Override
        public Decision decide(Request request, StartStatus start, int retryAfterSeconds) {
          return all.stream().filter(one -> one.afterNanos(request) != DeadlineCalculator.NONE)
              .findFirst().orElse(NONE).decide(request, start, retryAfterSeconds);
        }

        @Override
        public Decision cannotStart(Request request) {
          return all.stream().map(one -> one.cannotStart(request))
              .filter(one -> !(one instanceof Unchanged)).findFirst().orElseGet(Unchanged::new);
        }
      };
    }
  }

  /**
   * Delivers requests that have a permit in another way than {@link Forwarder}, which sends them to
   * the pod. It ends the exchange by one of its methods: {@link Exchange#endUncounted}, {@link
   * Exchange#answerInstead}, {@link Exchange#rejected} or {@link Exchange#fail}; or, after
   * {@link Exchange#delivered}, by the end of the response or {@link Exchange#callerGone}.
   *
   * <p><b>Threads.</b> Confined to the loop.
   *
   * <p><b>Source.</b> Envoy's router filter, the last of each chain.
   */
  public interface Delivery {
    /** @param permit released by this */
    void deliver(Exchange exchange, Permit permit);

    /**
     * Takes a well-formed request to a separate port, which is not routed: it is about another
     * request, that of {@link RequestDispatcher#answerGateway}.
     */
    default void question(HttpRequest question, Downstream gateway, RequestDispatcher on) {
      throw new IllegalStateException("there is no separate port");
    }

    /** The exchange has ended, for whatever reason, delivered or not. */
    void ended(Exchange exchange);
  }

  /**
   * How a request counts for the autoscaler. One extension only can have it.
   *
   * <p><b>Threads.</b> The request's loop.
   */
  @FunctionalInterface
  public interface CountPolicy {
    /** Each request counts by itself. */
    CountPolicy EACH = (_, _, each, _) -> each;

    /**
     * The count that the request enters and leaves.
     *
     * @param revision which gets the request
     * @param each counts the revision's requests on the loop one by one
     */
    RevisionCount of(RequestTimeline request, LiveRevision revision, RevisionCount each, Loop loop);
  }

  /**
   * Watches upgraded connections, such as WebSockets. It may count one out while it is silent. One extension only can have it.
   *
   * <p><b>Threads.</b> Confined to the loop.
   */
  @FunctionalInterface
  public interface TunnelWatcher {
    TunnelWatcher NONE = _ -> null;

    /** Makes the watcher of a loop. */
    @FunctionalInterface
    interface Maker {
      TunnelWatcher of(Loop loop);
    }

    /** An upgraded connection that is watched. It is counted when this begins. */
    interface Tunnel {
      /** Bytes have passed, in either direction. */
      void bytesPassed();

      /** Whether it is not counted now. Its caller then gets a close code when it ends. */
      boolean isSilent();

      /** The connection has ended. Returns whether it must still be counted out. */
      boolean end();
    }

    /** Called when the pod has switched protocols; null if the connection need not be watched. */
    @Nullable Tunnel opened(Exchange exchange);
  }

  /**
   * Says to callers why their requests wait. One extension only can have it.
   *
   * <p><b>Threads.</b> Any; it must not wait for a revision's loop.
   */
  @FunctionalInterface
  public interface WaitReasons {
    /** The reason as a sentence without a full stop and without addresses; empty if unknown. */
    String of(RevisionId id);
  }
}
