package dev.activator.waking;

import dev.activator.config.CidrRanges;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.Throttler;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Detects which revision sent a request, by the request's trace or by the caller's address. It only
 * observes requests while episodes are open, and only those to revisions that are or were at zero.
 *
 * <p><b>Threads.</b> Any.
 */
public final class CallerDetector implements RequestObserver {
  private static final String TRACE_PARENT = "traceparent";
  private static final String B3 = "b3";
  private static final String B3_TRACE = "X-B3-TraceId";
  private static final String FORWARDED_FOR = "X-Forwarded-For";
  private static final int MIN_TRACE = 16;
  private static final int MAX_TRACE = 32;

  private final CallChains chains;
  private final Throttler throttler;
  private final CidrRanges trustedHops;
  private final IntUnaryOperator podPorts;

  /**
   * @param trustedHops proxies whose last entry in {@code X-Forwarded-For} is trusted
   * @param podPorts returns the port of the pod that has a connection from this port of the
   *     loopback address; 0 if there is none
   */
  public CallerDetector(CallChains chains, Throttler throttler, CidrRanges trustedHops,
      IntUnaryOperator podPorts) {
    this.chains = chains;
    this.throttler = throttler;
    this.trustedHops = trustedHops;
    this.podPorts = podPorts;
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    var revision = request.revision();
    if (revision == null || request.retries() > 0 || request.hasFallenBack()
        || !request.mayWake()) {
      // Fallbacks are ignored, because their other revision is not known here.
      return;
    }
    var id = revision.id();
    switch (step) {
      case QUEUED -> {
        if (chains.isWatched(id) || throttler.isAtZero(id)) {
          chains.reached(id, callers(id, request), true);
        }
      }
      case GRANTED -> {
        if (chains.isWatched(id)) {
          if (!request.waited()) {
            chains.reached(id, callers(id, request), false);
          }
          chains.served(id);
        }
      }
      case FORWARDING -> {
        var trace = chains.isWatched(id) ? trace(request) : null;
        if (trace != null) {
          chains.traced(id, trace);
        }
      }
      case ARRIVED, UNDELIVERED, RESPONDING, ENDED -> {
        // These steps do not show which revision called.
      }
    }
  }

  private Set<RevisionId> callers(RevisionId id, RequestTimeline request) {
    var found = new HashSet<RevisionId>(4);
    var trace = trace(request);
    if (trace != null) {
      found.addAll(chains.callerLookup().ofTrace(trace));
    }
    var peer = CallingRevisionLookup.normalized(request.peer());
    if (trustedHops.contains(peer)) {
      // A trusted hop may also be at the loopback address, such as a sidecar.
      found.addAll(chains.callerLookup()
          .ofAddress(CallingRevisionLookup.normalized(forwardedFor(request, peer))));
    } else if (CallingRevisionLookup.isLoopback(peer)) {
      // Only if needed, because reading the port costs a millisecond.
      int port = chains.isCallAwaited(id) ? podPorts.applyAsInt(request.peerPort()) : 0;
      if (port > 0) {
        found.addAll(chains.callerLookup().ofLoopback(port));
      }
    } else {
      found.addAll(chains.callerLookup().ofAddress(peer));
    }
    return found;
  }

  /**
   * The entry that the hop has added. It is the last but one, because this activator has added the
   * address of the hop behind it.
   */
  private static String forwardedFor(RequestTimeline request, String peer) {
    var text = request.header(FORWARDED_FOR);
    if (text == null) {
      return peer;
    }
    int last = text.lastIndexOf(',');
    var before = last < 0 ? "" : text.substring(0, last).strip();
    return before.isEmpty() ? peer : before.substring(before.lastIndexOf(',') + 1).strip();
  }

  /** The id of the request's trace; null if it has none. */
  private static @Nullable String trace(RequestTimeline request) {
    var parent = request.header(TRACE_PARENT);
    if (parent != null) {
      int end = parent.indexOf('-', 3);
      return end < 0 ? null : valid(parent.substring(3, end));
    }
    var single = request.header(B3);
    if (single != null) {
      int end = single.indexOf('-');
      return end < 0 ? null : valid(single.substring(0, end));
    }
    var trace = request.header(B3_TRACE);
    return trace == null ? null : valid(trace);
  }

  private static @Nullable String valid(String trace) {
    return trace.length() >= MIN_TRACE && trace.length() <= MAX_TRACE
        && !trace.chars().allMatch(c -> c == '0') ? trace : null;
  }
}
