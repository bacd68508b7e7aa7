package dev.activator.proxy.exchange;

import dev.activator.lifecycle.Readiness;
import dev.activator.loop.Loop;
import dev.activator.proxy.policy.HostRouter;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionLookup;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.upstream.PodConnectionPools;
import io.netty.handler.codec.http.HttpRequest;
import java.util.function.BiFunction;

/** Dispatchers for one revision, to which all requests go. */
public final class Dispatchers {
  private Dispatchers() {}

  public static RequestDispatcher of(Loop loop, Revision revision,
      BiFunction<Revision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pods,
      HeldRequestBytes.Share held) {
    return of(loop, revision, throttle, pods, held, new UncountedRequests());
  }

  static RequestDispatcher of(Loop loop, Revision revision,
      BiFunction<Revision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pods,
      HeldRequestBytes.Share held,
      RequestCounter counter) {
    return of(loop, revision.id(), _ -> revision, throttle, pods, held, counter);
  }

  /** @param revisions in which the one may change */
  static RequestDispatcher of(Loop loop, RevisionId id, RevisionLookup revisions,
      BiFunction<Revision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pods,
      HeldRequestBytes.Share held,
      RequestCounter counter) {
    HostRouter all = (_, _, _) -> id;
    var router = new Router(new RevisionResolver.Knative("cluster.local", all), _ -> null,
        revisions, Readiness.Ready::new);
    return new RequestDispatcher(loop, router, throttle, pods, counter,
        (_, _) -> {
        }, held,
        Quiescence.watch(new UnreadResponseBytes(new UnreadResponseBudget(Long.MAX_VALUE)))
            .share(loop),
        ErrorResponseOptions.NONE);
  }

  /** Sends a request, in the version that it says. */
  static void dispatch(RequestDispatcher to, HttpRequest request, Downstream caller) {
    request.headers().set("Host", "hello.example");
    boolean http2 = request.protocolVersion().majorVersion() == 2;
    to.dispatch(request, http2 ? RequestVersion.HTTP_2 : RequestVersion.HTTP_1_1, caller);
  }
}
