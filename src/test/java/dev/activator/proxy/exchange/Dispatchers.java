package dev.activator.proxy.exchange;

import dev.activator.lifecycle.Readiness;
import dev.activator.loop.Loop;
import dev.activator.proxy.policy.HostRule;
import dev.activator.proxy.policy.RevisionNames;
import dev.activator.proxy.policy.UnreadBudget;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.Admission;
import dev.activator.upstream.PodPools;
import io.netty.handler.codec.http.HttpRequest;
import java.util.function.BiFunction;

/** Dispatchers for one revision, to which all requests go. */
public final class Dispatchers {
  private Dispatchers() {}

  public static RequestDispatcher of(Loop loop, Revision revision,
      BiFunction<Revision, QueuedCaller, Admission> throttle, PodPools pods, HeldBytes.Share held) {
    return of(loop, revision, throttle, pods, held, new UncountedRequests());
  }

  static RequestDispatcher of(Loop loop, Revision revision,
      BiFunction<Revision, QueuedCaller, Admission> throttle, PodPools pods, HeldBytes.Share held,
      RequestCounter counter) {
    return of(loop, revision.id(), _ -> revision, throttle, pods, held, counter);
  }

  /** @param revisions in which the one may change */
  static RequestDispatcher of(Loop loop, RevisionId id, Revisions revisions,
      BiFunction<Revision, QueuedCaller, Admission> throttle, PodPools pods, HeldBytes.Share held,
      RequestCounter counter) {
    HostRule all = (_, _, _) -> id;
    var router = new Router(new RevisionNames.Knative("cluster.local", all), _ -> null,
        revisions, Readiness.Ready::new);
    return new RequestDispatcher(loop, router, throttle, pods, counter,
        (_, _) -> {
        }, held,
        Quiescence.watch(new UnreadBytes(new UnreadBudget(Long.MAX_VALUE))).share(loop),
        ErrorResponses.NONE);
  }

  /** Sends a request, in the version that it says. */
  static void dispatch(RequestDispatcher to, HttpRequest request, Downstream caller) {
    request.headers().set("Host", "hello.example");
    boolean http2 = request.protocolVersion().majorVersion() == 2;
    to.dispatch(request, http2 ? RequestVersion.HTTP_2 : RequestVersion.HTTP_1_1, caller);
  }
}
