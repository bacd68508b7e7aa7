package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.request.RequestObserver;
import dev.activator.proxy.held.HeldBytes;
import dev.activator.proxy.policy.Failure;
import dev.activator.stats.RequestCounter;
import dev.activator.throttle.Admission.Rejection;
import dev.activator.upstream.PodPools;

/**
 * What the requests of one event loop share.
 *
 * <p>
 * <b>Threads.</b> All of it belongs to the loop.
 *
 * @param startMessages whether callers are told in full what is known of a start that failed
 */
public record Worker(Loop loop, PodPools pools, RequestCounter counter,
    HeldBytes.Share held, RequestObserver observer, boolean startMessages) {

  /** What a caller is told of a rejection. */
  Failure refusal(Rejection reason) {
    return switch (reason) {
      case Rejection.QueueFull(_, int seconds) -> new Failure.QueueFull(seconds);
      case Rejection.TooLate(_, int seconds) -> new Failure.TooLate(seconds);
      case Rejection.RevisionGone(var revision) -> new Failure.RevisionGone(revision);
      case Rejection.CannotStart(var revision, var why) ->
        new Failure.CannotStart(revision, why.reason(), startMessages ? why.message() : "");
    };
  }
}
