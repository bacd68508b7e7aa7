package dev.activator.proxy.exchange;

import dev.activator.config.WaitingPageMode;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.exchange.Seams.CountPolicy;
import dev.activator.proxy.exchange.Seams.Delivery;
import dev.activator.proxy.exchange.Seams.TunnelWatcher;
import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.RevisionResolver.HostRouter;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.testing.TestExtensions;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.upstream.PodConnectionPools;
import io.netty.handler.codec.http.HttpRequest;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Dispatchers for one revision, to which all requests go. */
public final class Dispatchers {
  private Dispatchers() {}

  public static RequestDispatcher of(Loop loop, Revision revision,
      BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pods,
      HeldRequestBytes.Share held) {
    return of(loop, revision, throttle, pods, held, new UncountedRequests());
  }

  public static RequestDispatcher of(Loop loop, Revision revision,
      BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pods,
      HeldRequestBytes.Share held,
      RequestCounter counter) {
    return of(loop, revision.id(), new TestRevisions(loop, revision).live, throttle, pods, held,
        counter);
  }

  /** @param revisions in which the one may change */
  public static RequestDispatcher of(Loop loop, RevisionId id, LiveRevisions revisions,
      BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pods,
      HeldRequestBytes.Share held,
      RequestCounter counter) {
    HostRouter all = (_, _, _) -> id;
    var router = new Router(new RevisionResolver.Knative("cluster.local", all), _ -> null,
        revisions, Readiness.Ready::new, arrival(WaitingPageMode.OFF, List.of()));
    return with(loop, router, throttle, pods).counter(counter).held(held).fallbacks(revisions)
        .build();
  }

  /** What extensions attach to a router. */
  public static Arrival arrival(WaitingPageMode pages, List<DoNotWakeRule> ofAll) {
    return Arrival.first(TestExtensions.each(one -> one.arrival(pages, ofAll)));
  }

  /** The one place where tests make a dispatcher: what a test does not say counts and observes nothing. */
  public static Builder with(Loop loop, Router router,
      BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pods) {
    return new Builder(loop, router, throttle, pods);
  }

  /** Sends a request, in the version that it says. */
  public static void dispatch(RequestDispatcher to, HttpRequest request, Downstream caller) {
    request.headers().set("Host", "hello.example");
    boolean http2 = request.protocolVersion().majorVersion() == 2;
    to.dispatch(request, http2 ? RequestVersion.HTTP_2 : RequestVersion.HTTP_1_1, caller);
  }

  /** Each request's body may hold a mebibyte, and any number of bytes of responses may be unread. */
  public static final class Builder {
    private final Loop loop;
    private final Router router;
    private final BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle;
    private final PodConnectionPools pods;
    private RequestCounter counter = new UncountedRequests();
    private RequestObserver observer = (_, _) -> {
    };
    private HeldRequestBytes.@Nullable Share held;
    private UnreadResponseBytes.@Nullable Share unread;
    private @Nullable RevisionStarts starts;
    private WaitingPageMode pages = WaitingPageMode.OFF;
    private LiveRevisions fallbacks = TestRevisions.unused();
    private @Nullable Delivery delivery;

    private Builder(Loop loop, Router router,
        BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle,
        PodConnectionPools pods) {
      this.loop = loop;
      this.router = router;
      this.throttle = throttle;
      this.pods = pods;
    }

    public Builder counter(RequestCounter counter) {
      this.counter = counter;
      return this;
    }

    public Builder observer(RequestObserver observer) {
      this.observer = observer;
      return this;
    }

    public Builder held(HeldRequestBytes.Share held) {
      this.held = held;
      return this;
    }

    public Builder unread(UnreadResponseBytes.Share unread) {
      this.unread = unread;
      return this;
    }

    public Builder starts(RevisionStarts starts) {
      this.starts = starts;
      return this;
    }

    public Builder pages(WaitingPageMode pages) {
      this.pages = pages;
      return this;
    }

    /** @param revisions those that a fallback may name, and whose starts are kept */
    public Builder fallbacks(LiveRevisions revisions) {
      this.fallbacks = revisions;
      return this;
    }

    public Builder delivery(Delivery delivery) {
      this.delivery = delivery;
      return this;
    }

    public RequestDispatcher build() {
      Quiescence.watch(loop);
      if (held == null) {
        held = Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(1 << 20))).share();
      }
      if (unread == null) {
        unread = Quiescence.watch(new UnreadResponseBytes(new UnreadResponseBudget(Long.MAX_VALUE)))
            .share(loop);
      }
      if (starts == null) {
        starts = new RevisionStarts(fallbacks, false, _ -> StartStatus.UNKNOWN,
            RevisionStarts.EarlyAnswers.NONE);
      }
      var waitPolicy = WaitPolicy
          .first(TestExtensions.each(one -> one.waitPolicy(pages, fallbacks)));
      return new RequestDispatcher(loop, router, throttle, pods, counter,
          new RequestDispatcher.Memory(held, unread),
          new Seams(observer, starts, waitPolicy,
              TestExtensions.one(TunnelWatcher.NONE, one -> one.tunnels(loop)),
              CountPolicy.EACH, delivery));
    }
  }
}
