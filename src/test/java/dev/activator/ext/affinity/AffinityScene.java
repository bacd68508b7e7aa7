package dev.activator.ext.affinity;

import dev.activator.testing.TestExtensions;
import dev.activator.throttle.PermitSharing;
import dev.activator.loop.Loop;
import dev.activator.observability.FakeRequest;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Revisions with affinity, their throttler, and requests, in virtual time. */
final class AffinityScene {
  static final RevisionId WEB = new RevisionId("shop", "web");
  static final String SESSION = "Mcp-Session-Id";

  final VirtualLoop loop;
  final TestRevisions revisions;
  final Throttler throttler;
  final AffinityCounts counts = new AffinityCounts();
  final Affinities affinities;
  private final RevisionId id;
  /** Which keys the others were notified of. */
  final List<KeyNotices.Notice> notices = new ArrayList<>();
  /** What is listed. */
  List<Destination> listed = List.of();
  /** Called with each request that gets a pod. */
  Consumer<Asked> onGranted = _ -> {
  };

  AffinityScene(int containerConcurrency, String... annotations) {
    this(WEB, containerConcurrency, annotations);
  }

  AffinityScene(RevisionId id, int containerConcurrency, String... annotations) {
    this(id, VirtualLoop.nearOverflow(), "10.9.9.9",
        TestExtensions.one(PermitSharing.NONE, one -> one.sharing("10.9.9.9")), KeyNotices.NONE);
    changes(containerConcurrency, annotations);
  }

  /** One of several activators. */
  AffinityScene(RevisionId id, VirtualLoop loop, String address, PermitSharing sharing,
      KeyNotices others) {
    this.id = id;
    this.loop = loop;
    this.revisions = new TestRevisions(loop);
    this.throttler = Make.throttler(revisions.live, address, ThrottlerOptions.of(10_000),
        new Random(1), sharing);
    this.affinities = new Affinities(revisions.live, throttler, new AffinityCookie("a secret"),
        new KeyNotices() {
          @Override
          public void send(Notice notice) {
            notices.add(notice);
            others.send(notice);
          }

          @Override
          public void listen(Consumer<Notice> listener) {
            others.listen(listener);
          }
        }, counts);
    others.listen(affinities::onNotice);
  }

  void changes(int containerConcurrency, String... annotations) {
    var all = new TreeMap<String, String>();
    for (int i = 0; i < annotations.length; i += 2) {
      all.put("activator.dev/affinity-" + annotations[i], annotations[i + 1]);
    }
    var live = revisions.put(new Revision(id, "u", PortProtocol.HTTP1, containerConcurrency,
        RequestTimeouts.DEFAULT, true, null, Map.of(), all, null));
    throttler.onRevision(live);
    affinities.onRevision(live);
    loop.run();
  }

  static Destination pod(int number) {
    return new Destination("10.0.0." + number, 8012);
  }

  static List<Destination> pods(int count) {
    return IntStream.rangeClosed(1, count).mapToObj(AffinityScene::pod).toList();
  }

  void has(Collection<Destination> pods) {
    listed = pods.stream().sorted().toList();
    throttler.onDestinations(HealthyDestinations.pods(id, DestinationSet.of(pods)));
    loop.run();
  }

  /** A request with this session; without one if it is empty. */
  Asked request(String session) {
    var request = FakeRequest.of(affinities, loop, revisions.of(id));
    if (!session.isEmpty()) {
      request.headers.put(SESSION, session);
    }
    return request(request);
  }

  Asked request(FakeRequest request) {
    var asked = new Asked(request);
    asked.received(throttler.admit(revisions.of(id), asked));
    loop.run();
    return asked;
  }

  /** Where a request with this session runs while nothing else does. */
  Destination runsOn(String session) {
    var asked = request(session);
    var pod = asked.pod();
    asked.ends();
    return pod;
  }

  /** A request without a session gets this one from its pod. */
  Destination begins(String session) {
    var asked = request("");
    asked.responds(200, SESSION, session);
    var pod = asked.pod();
    asked.ends();
    return pod;
  }

  final class Asked implements QueuedCaller {
    final FakeRequest request;
    @Nullable Rejection rejection;
    private @Nullable Permit permit;
    private @Nullable QueueEntry place;
    private boolean answered;

    Asked(FakeRequest request) {
      this.request = request;
      Quiescence.watch(loop);
      Quiescence.watch(this, this::leave);
    }

    private void leave() {
      if (permit != null) {
        ends();
      } else if (place != null) {
        place.giveUp();
      }
    }

    private void received(ThrottleDecision decision) {
      switch (decision) {
        case Permit now -> granted(now);
        case QueueEntry later -> place = later;
        case ThrottleDecision.NoRoom _ -> throw new AssertionError("it waits");
      }
    }

    boolean waits() {
      return !answered;
    }

    @Nullable Destination pod() {
      return permit == null ? null : permit.destination();
    }

    void responds(int status, String header, String value) {
      request.responseHeaders.put(header, value);
      request.responding(status);
    }

    void ends() {
      var running = permit;
      permit = null;
      running.release(Ending.ANSWERED);
      loop.run();
    }

    @Override
    public FakeRequest timeline() {
      return request;
    }

    @Override
    public Loop loop() {
      return loop;
    }

    @Override
    public void granted(Permit now) {
      permit = now;
      answered = true;
      if (now.isPod()) {
        request.granted(now.destination());
      } else {
        request.grantedThrough(now.destination());
      }
      onGranted.accept(this);
    }

    /** The pod refuses the connection. */
    void retries() {
      var refused = permit;
      permit = null;
      answered = false;
      place = refused.retry(this, false);
      loop.run();
    }

    @Override
    public void rejected(Rejection reason) {
      rejection = reason;
      answered = true;
    }
  }
}
