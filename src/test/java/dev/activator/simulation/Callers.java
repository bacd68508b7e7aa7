package dev.activator.simulation;

import dev.activator.http.HeaderFieldList;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.testing.StubDownstream;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.Throttler;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Those who send requests, with connections of one request each, to the product's dispatchers. */
final class Callers {
  /** A header that numbers requests. */
  static final String NUMBER = "X-Number";

  private final VirtualLoop clock;
  private final Random random;
  private final Story story;
  private final HeldRequestBytes held = new HeldRequestBytes(new HeldMemoryLimit(8 << 20));
  private final LiveRevisions revisions;
  private final List<RequestDispatcher> dispatchers = new ArrayList<>();
  private final Map<String, Caller> open = new HashMap<>();
  private final Map<RevisionId, Integer> openOf = new HashMap<>();
  /** When a request last came or ended. */
  private final Map<RevisionId, Long> lastNanos = new HashMap<>();
  private final Map<Integer, Integer> statuses = new HashMap<>();
  /** When revisions were last seen to serve the newest request first. */
  private final Map<RevisionId, Long> newestFirst = new HashMap<>();
  private int requests;

  /** @param revisions as the activator knows them */
  Callers(VirtualLoop clock, Random random, Story story, LiveRevisions revisions) {
    this.clock = clock;
    this.random = random;
    this.story = story;
    this.revisions = revisions;
  }

  /** One more event loop that takes requests. */
  void loop(Loop loop, Throttler throttler, SimulatedPods pods, ConcurrencyReporter reporter) {
    var router = new Router(new RevisionResolver.Knative("cluster.local", (_, _, _) -> null),
        _ -> null,
        revisions,
        Readiness.Ready::new);
    dispatchers.add(Dispatchers.with(loop, router, throttler::admit, pods.pools())
        .counter(reporter.onLoop(loop))
        .observer((step, request) -> saw(throttler, step, request)).held(held.share()).build());
  }

  private void saw(Throttler throttler, Step step, RequestTimeline request) {
    var caller = open.get(request.header(NUMBER));
    if (caller == null) {
      return;
    }
    var view = throttler.view(caller.revision);
    if (view != null && view.newestFirst()) {
      newestFirst.put(caller.revision, clock.elapsed().toNanos());
    }
    switch (step) {
      case QUEUED -> caller.queued = true;
      case UNDELIVERED -> caller.retried = true;
      case GRANTED -> {
        caller.queued = false;
        checkOrder(caller);
      }
      default -> {
        // Says nothing of the order.
      }
    }
  }

  /** The requests of one revision run in order of arrival, but for retries and an overload. */
  private void checkOrder(Caller next) {
    if (next.retried) {
      return;
    }
    for (var caller : List.copyOf(open.values())) {
      if (caller.mustRunBefore(next)) {
        // Unless it has a permit, and its loop was not told yet.
        clock.schedule(Caller.TURNS, () -> {
          if (caller.mustRunBefore(next)) {
            throw new AssertionError(next.number + " of " + next.revision + " has overtaken "
                + caller.number);
          }
        });
      }
    }
  }

  /** A request is sent; its caller may leave before the answer. */
  void sendTo(Revision revision) {
    var dispatcher = dispatchers.get(random.nextInt(dispatchers.size()));
    var caller = new Caller("r" + requests++, dispatcher.loop(), revision);
    open.put(caller.number, caller);
    countOpen(revision.id(), 1);
    dispatcher.loop().execute(() -> caller.send(dispatcher));
  }

  /** The head of a request has left for a pod. */
  void headLeft(String number) {
    var caller = open.get(number);
    if (caller != null && !caller.idempotent && caller.headsOut++ > 0) {
      throw new AssertionError(number + " may not be done twice, and its head left twice");
    }
  }

  /** The uid of the revision that the activator knew when this request came. */
  String uidFor(String number) {
    return Objects.requireNonNull(open.get(number)).uid;
  }

  int open() {
    return open.size();
  }

  int open(RevisionId revision) {
    return openOf.getOrDefault(revision, 0);
  }

  /** Whether none was there for so long. */
  boolean isIdle(RevisionId revision, Duration length) {
    return open(revision) == 0
        && clock.elapsed().toNanos() - lastNanos.getOrDefault(revision, 0L) > length.toNanos();
  }

  private void countOpen(RevisionId revision, int more) {
    openOf.merge(revision, more, Integer::sum);
    lastNanos.put(revision, clock.elapsed().toNanos());
  }

  long heldBytes() {
    return held.total();
  }

  /** How many got each status; 499 for those who left, 0 for a response that was broken off. */
  Map<Integer, Integer> statuses() {
    return statuses;
  }

  /** Everyone's time is not over, and nobody's was long ago. */
  void check() {
    for (var caller : open.values()) {
      if (clock.elapsed().toNanos() > caller.dueNanos) {
        throw new AssertionError(caller.number + " of " + caller.revision
            + " was to end long ago");
      }
    }
  }

  private final class Caller extends StubDownstream {
    /** From the end of a time limit to the answer: some turns of the loops. */
    private static final Duration TURNS = Duration.ofMillis(5);
    /** Longer than from a permit to the next look at the order by which it was given. */
    private static final Duration UNORDERED = Duration.ofMillis(200);

    private final String number;
    private final Loop loop;
    private final RevisionId revision;
    private String uid = "";
    private final boolean idempotent = random.nextInt(3) > 0;
    private final boolean http2 = random.nextInt(4) == 0;
    private final long sinceNanos = clock.elapsed().toNanos();
    private final long dueNanos;
    private int parts = idempotent ? 0 : 1 + random.nextInt(3);
    private boolean paused;
    private boolean over;
    private boolean queued;
    private boolean retried;
    private int status;
    private int headsOut;

    Caller(String number, Loop loop, Revision revision) {
      super(loop);
      this.number = number;
      this.loop = loop;
      this.revision = revision.id();
      this.dueNanos = clock.elapsed().toNanos()
          + revision.timeouts().overall().plus(TURNS).toNanos();
    }

    private boolean mustRunBefore(Callers.Caller other) {
      long apart = other.sinceNanos - sinceNanos;
      var unordered = newestFirst.get(revision);
      return queued && !over && !retried && revision.equals(other.revision)
          && apart > TURNS.toNanos()
          && (unordered == null || clock.elapsed().toNanos() - unordered > UNORDERED.toNanos());
    }

    void send(RequestDispatcher dispatcher) {
      var request = new DefaultHttpRequest(
          http2 ? HttpVersion.valueOf("HTTP/2.0") : HttpVersion.HTTP_1_1,
          idempotent ? HttpMethod.GET : HttpMethod.POST, "/", HeaderFieldList.CHECKED);
      request.headers().set("Host", "any.example").set(NUMBER, number)
          .set("Knative-Serving-Namespace", revision.namespace())
          .set("Knative-Serving-Revision", revision.name());
      if (!idempotent && !http2) {
        request.headers().set("Transfer-Encoding", "chunked");
      }
      var known = revisions.find(revision);
      uid = known == null ? "" : known.uid();
      dispatcher.dispatch(request, http2 ? RequestVersion.HTTP_2 : RequestVersion.HTTP_1_1, this);
      if (parts == 0 && exchange != null) {
        exchange.content(LastHttpContent.EMPTY_LAST_CONTENT);
      }
      flush(exchange);
      sendSoon();
      if (random.nextInt(5) == 0) {
        loop.schedule(Duration.ofMillis(random.nextInt(3_000)), this::leave);
      }
    }

    private void sendSoon() {
      if (exchange != null && !paused && parts > 0) {
        loop.schedule(Duration.ofMillis(random.nextInt(20)), this::sendPart);
      }
    }

    private void sendPart() {
      if (exchange == null || paused || parts == 0) {
        return;
      }
      parts--;
      var bytes = Unpooled.wrappedBuffer(new byte[1 + random.nextInt(40_000)]);
      exchange.content(
          parts == 0 ? new DefaultLastHttpContent(bytes) : new DefaultHttpContent(bytes));
      flush(exchange);
      sendSoon();
    }

    private static void flush(@Nullable Exchange exchange) {
      if (exchange != null) {
        exchange.flushUpstream();
      }
    }

    private void leave() {
      if (exchange != null) {
        var left = exchange;
        over(499);
        left.callerGone();
      }
    }

    private void over(int status) {
      if (over) {
        throw new AssertionError(number + " ended twice");
      }
      over = true;
      exchange = null;
      open.remove(number);
      countOpen(revision, -1);
      statuses.merge(status, 1, Integer::sum);
      if (status != 200 && status != 499) {
        story.tell("%s of %s ends with %d", number, revision, status);
      }
    }

    @Override
    public void head(HttpResponse head) {
      status = head.status().code();
    }

    @Override
    public void answer(LocalResponse answer) {
      status = answer.status();
    }

    @Override
    public void abort() {
      over(0);
    }

    @Override
    public void ended() {
      over(status);
    }

    @Override
    public void pauseReading() {
      paused = true;
    }

    @Override
    public void resumeReading() {
      if (paused) {
        paused = false;
        sendSoon();
      }
    }
  }
}
