package dev.activator.ext.picker;

import static dev.activator.ext.picker.EnvoyMessages.get;
import static dev.activator.ext.picker.EnvoyMessages.post;
import static dev.activator.ext.picker.EnvoyMessages.request;
import static dev.activator.ext.picker.EnvoyMessages.requestBody;
import static dev.activator.ext.picker.EnvoyMessages.responseBody;
import static dev.activator.ext.picker.EnvoyMessages.responseHeaders;
import static dev.activator.ext.picker.EnvoyMessages.servedBy;
import static dev.activator.ext.picker.EnvoyMessages.withSubset;
import static dev.activator.ext.picker.PickerScene.WEB;
import static dev.activator.ext.picker.PickerScene.pod;
import static dev.activator.ext.picker.PickerScene.pods;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.picker.PickerScene.Gateway;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.PodChoice;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.wire.ProcessingRequest;
import io.grpc.Status;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Requests whose gateway asks for a pod, in virtual time. */
class PickerCallTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static PickerScene scene(int limit, int maxQueued) {
    return scene(limit, maxQueued, new RequestTimeouts(TIMEOUT, Duration.ZERO, Duration.ZERO));
  }

  private static PickerScene scene(int limit, int maxQueued, RequestTimeouts timeouts) {
    var revision = new Revision(WEB, "u", PortProtocol.HTTP1, limit, timeouts, true, null,
        Map.of(), Map.of(), null);
    return new PickerScene(VirtualLoop.nearOverflow(), revision, 2,
        revisions -> Make.throttler(revisions.live, maxQueued));
  }

  private static PickerScene scene(int limit, List<Destination> pods) {
    var scene = scene(limit, 10);
    scene.has(pods);
    return scene;
  }

  @Test
  void aRequestAtZeroWaitsForThePod() {
    var scene = scene(1, 10);
    var gateway = scene.open(get());
    assertThat(gateway.waits()).isTrue();
    assertThat(scene.counted).isOne();

    scene.has(pods(1));

    assertThat(gateway.pod()).isEqualTo("10.0.0.1:8080");
    assertThat(scene.counted).as("runs, for the autoscaler").isOne();
  }

  @Test
  void thePermitIsBackWithTheEndOfTheResponse() {
    var scene = scene(1, pods(1));
    var first = scene.open(post());
    var second = scene.open(get());
    first.send(requestBody("a", true), responseHeaders(200, false), responseBody("b", false));
    assertThat(second.waits()).isTrue();

    first.send(responseBody("c", true));

    assertThat(second.pod()).isEqualTo("10.0.0.1:8080");
    assertThat(first.status).isNull();
    assertThat(scene.outcomes).containsExactly(RequestOutcome.ANSWERED);
    assertThat(scene.counted).isOne();

    first.halfClose();
    assertThat(first.status.getCode()).isEqualTo(Status.Code.OK);
  }

  @Test
  void thePermitIsBackWhenTheGatewayClosesTheStream() {
    var scene = scene(1, pods(1));
    var first = scene.open(get());
    var second = scene.open(get());
    var third = scene.open(get());
    first.send(responseHeaders(200, false));

    first.cancel();
    assertThat(second.waits()).isFalse();
    assertThat(third.waits()).isTrue();

    second.halfClose();
    assertThat(third.waits()).isFalse();
    assertThat(scene.outcomes).containsExactly(RequestOutcome.ANSWERED,
        RequestOutcome.CALLER_GONE);
  }

  @Test
  void aGatewayThatLeavesGivesUpItsPlace() {
    var scene = scene(1, 10);
    var gateway = scene.open(get());

    gateway.cancel();

    assertThat(scene.queued()).isZero();
    assertThat(scene.counted).isZero();
  }

  @Test
  void allPermitsOfAKilledGatewayAreBackAtOnce() {
    var scene = scene(250, pods(4));
    var open = new ArrayList<Gateway>();
    for (int i = 0; i < 1_000; i++) {
      open.add(scene.open(post(), requestBody("a", false)));
    }
    assertThat(scene.inFlight()).isEqualTo(1_000);
    var next = scene.open(get());
    assertThat(next.waits()).isTrue();

    open.forEach(Gateway::cancel);

    assertThat(next.waits()).isFalse();
    assertThat(scene.inFlight()).isOne();
    assertThat(scene.counted).isOne();
  }

  @Test
  void aStreamThatNeverEndsIsCutByTheTimeoutOfTheRevision() {
    var scene = scene(1, pods(1));
    var silent = scene.open(get());
    var streaming = scene(1, pods(1));
    var begun = streaming.open(get(), responseHeaders(200, false));

    scene.loop.advance(TIMEOUT);
    streaming.loop.advance(TIMEOUT.plusSeconds(1));

    assertThat(silent.refusal()).isEqualTo(504);
    assertThat(silent.status.getCode()).isEqualTo(Status.Code.OK);
    assertThat(scene.inFlight()).isZero();
    assertThat(begun.status.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    assertThat(streaming.inFlight()).isZero();
  }

  @Test
  void aResponseWhoseBodyArrivesIsNotIdle() {
    var idle = Duration.ofSeconds(5);
    var scene = scene(1, 10, new RequestTimeouts(TIMEOUT, Duration.ZERO, idle));
    scene.has(pods(1));
    var gateway = scene.open(post(), requestBody("a", true), responseHeaders(200, false));
    for (int i = 0; i < 4; i++) {
      scene.loop.advance(idle.minusSeconds(1));
      gateway.send(responseBody("token", false));
    }
    assertThat(gateway.status).isNull();

    scene.loop.advance(idle.plusSeconds(1));
    assertThat(gateway.status.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
  }

  @Test
  void aStreamWithoutARequestIsEnded() {
    var scene = scene(1, pods(1));
    var empty = scene.open();
    var over = scene.open(get(), responseHeaders(200, true));

    scene.loop.advance(PickerCall.IDLE_TIMEOUT);

    assertThat(empty.status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(over.status.getCode()).isEqualTo(Status.Code.OK);
  }

  @Test
  void aRequestThatWaitsTooLongGetsTheReason() {
    var scene = scene(1, 10);
    var gateway = scene.open(get());

    scene.loop.advance(TIMEOUT);

    assertThat(gateway.refusal()).isEqualTo(504);
    assertThat(gateway.last().getImmediateResponse().getHeaders().getSetHeadersList())
        .anySatisfy(option -> assertThat(option.getHeader().getKey())
            .isEqualTo("k-activator-reason"));
  }

  @Test
  void aFullQueueIs429() {
    var scene = scene(1, 1);
    var waiting = scene.open(get());

    var refused = scene.open(get());

    assertThat(waiting.waits()).isTrue();
    assertThat(refused.refusal()).isEqualTo(429);
    assertThat(refused.status.getCode()).isEqualTo(Status.Code.OK);
  }

  @Test
  void aHostThatNoServiceHas_andAMalformedHeadAreRefused() {
    var scene = scene(1, pods(1));

    assertThat(scene.open(request("GET", "other", "/").build()).refusal()).isEqualTo(404);
    assertThat(scene.open(request("GET", "web.shop", "").build()).refusal()).isEqualTo(400);
    assertThat(scene.open(request("", "web.shop", "/").build()).refusal()).isEqualTo(400);
  }

  @Test
  void countsAStreamOnce() {
    var scene = scene(1, pods(1));
    var meters = new Meters();
    scene.counts.register(meters);

    var broken = scene.open(get(), get());

    assertThat(broken.status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(scene.inFlight()).isZero();
    var counted = meters.collect().stream().flatMap(metric -> metric.getDataPoints().stream())
        .map(CounterDataPointSnapshot.class::cast).filter(point -> point.getValue() > 0).toList();
    assertThat(counted).extracting(point -> point.getLabels().get("end"))
        .containsExactly("malformed");
  }

  @Test
  void refusesWhileItStops() {
    var scene = scene(1, pods(1));
    scene.stopping = true;

    assertThat(scene.open(get()).refusal()).isEqualTo(503);
  }

  @Test
  void picksOnlyFromTheGatewaysPods() {
    var scene = scene(2, pods(4));
    for (int i = 0; i < 4; i++) {
      var gateway = scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080", "10.0.0.3:8080",
          "10.0.0.9:8080"));
      assertThat(gateway.pod()).isEqualTo(i % 2 == 0 ? "10.0.0.2:8080" : "10.0.0.3:8080");
    }

    // Both are full, others are idle.
    var waiting = scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080", "10.0.0.3:8080"));
    assertThat(waiting.waits()).isTrue();
    assertThat(scene.open(get()).waits()).isFalse();
  }

  @Test
  void aRequestGetsWhicheverOfTheGatewaysPodsIsFreeFirst() {
    var scene = scene(1, pods(3));
    var second = scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080"));
    var third = scene.open(withSubset(get().toBuilder(), "10.0.0.3:8080"));
    var waiting = scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080", "10.0.0.3:8080"));
    third.cancel();
    assertThat(waiting.pod()).isEqualTo("10.0.0.3:8080");
    var next = scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080", "10.0.0.3:8080"));

    second.cancel();

    assertThat(next.pod()).isEqualTo("10.0.0.2:8080");
  }

  @Test
  void requestsThatWaitForAGatewaysPodsAreDividedAmongThem() {
    var scene = scene(1, pods(3));
    var second = scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080"));
    var third = scene.open(withSubset(get().toBuilder(), "10.0.0.3:8080"));
    var waiting = new ArrayList<Gateway>();
    for (int i = 0; i < 2; i++) {
      waiting.add(
          scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080", "10.0.0.3:8080")));
    }

    second.cancel();
    third.cancel();

    assertThat(waiting).extracting(Gateway::pod).containsExactlyInAnyOrder("10.0.0.2:8080",
        "10.0.0.3:8080");
  }

  @Test
  void aSubsetLeavesATenantItsPod() {
    var scene = scene(2, pods(3));
    scene.throttler.choose(scene.revisions.of(WEB), new PodChoice.Maker() {
      @Override
      public PodChoice of(QueuedCaller caller) {
        return new OfTenant();
      }

      @Override
      public boolean isExclusive() {
        return true;
      }
    });
    scene.loop.run();
    var all = pods(3).stream().map(Destination::toString).toArray(String[]::new);

    var first = scene.open(withSubset(get().toBuilder(), all));
    var second = scene.open(withSubset(get().toBuilder(), all));

    assertThat(second.pod()).isEqualTo(first.pod());
  }

  private static final class OfTenant implements PodChoice {
    @Override
    public Wanted wanted(List<Destination> pods) {
      return ANY;
    }

    @Override
    public long score(Destination pod) {
      return 0;
    }

    @Override
    public Object tenant() {
      return "a";
    }
  }

  @Test
  void noneOfTheGatewaysPodsIs503() {
    var scene = scene(1, pods(2));

    assertThat(scene.open(withSubset(get().toBuilder())).refusal()).isEqualTo(503);
    var gone = scene.open(withSubset(get().toBuilder(), "10.0.0.9:8080"));
    assertThat(gone.refusal()).isEqualTo(503);
    assertThat(gone.last().getImmediateResponse().getBody().toStringUtf8())
        .isEqualTo("none of the gateway's pods takes requests\n");
    assertThat(scene.counted).isZero();
  }

  @Test
  void aRequestThatWaitsForTheGatewaysPodIsRefusedWhenThatPodGoes() {
    var scene = scene(1, pods(2));
    scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080"));
    var waiting = scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080"));
    assertThat(waiting.waits()).isTrue();

    scene.has(pods(1));

    assertThat(waiting.refusal()).isEqualTo(503);
  }

  @Test
  void namesFallbacksOnlyWithoutALimit() {
    assertThat(EnvoyMessages.pods(scene(1, pods(4)).open(get()).received.getFirst())).hasSize(1);

    var scene = scene(0, pods(4));
    var named = EnvoyMessages.pods(scene.open(get()).received.getFirst());
    assertThat(named).hasSize(3).doesNotHaveDuplicates();
    assertThat(EnvoyMessages.pods(scene.open(withSubset(get().toBuilder(), "10.0.0.2:8080",
        "10.0.0.4:8080")).received.getFirst())).containsExactlyInAnyOrder("10.0.0.2:8080",
            "10.0.0.4:8080");
    assertThat(EnvoyMessages.pods(scene(0, pods(1)).open(get()).received.getFirst())).hasSize(1);
  }

  @Test
  void aRequestCountsOnThePodThatServedIt() {
    var scene = scene(1, pods(2));
    var first = scene.open(get());
    assertThat(first.pod()).isEqualTo("10.0.0.1:8080");

    first.send(servedBy("10.0.0.2:8080"));

    assertThat(scene.open(get()).pod()).isEqualTo("10.0.0.1:8080");
    var waiting = scene.open(get());
    assertThat(waiting.waits()).isTrue();
    first.send(responseBody("", true));
    assertThat(waiting.pod()).isEqualTo("10.0.0.2:8080");
  }

  @Test
  void aPodThatServesThoughItIsFullGetsNoMoreUntilBothHaveEnded() {
    var scene = scene(1, pods(2));
    var first = scene.open(get());
    var second = scene.open(get());
    first.send(servedBy(second.pod()));
    var taken = scene.open(get());
    assertThat(taken.pod()).isEqualTo(first.pod());
    var waiting = scene.open(get());

    second.send(responseHeaders(200, true));
    assertThat(waiting.waits()).isTrue();
    first.send(responseBody("", true));
    assertThat(waiting.pod()).isEqualTo(second.pod());
  }

  @Test
  void countsNoRequestThatAnUnknownPodServed() {
    var scene = scene(1, pods(1));
    var first = scene.open(get());

    first.send(servedBy("10.9.9.9:80"));

    assertThat(scene.open(get()).waits()).isFalse();
    first.send(responseBody("", true));
    assertThat(scene.inFlight()).isOne();
  }

  @Test
  void headersThatObserversAddGoToTheCaller() {
    var scene = scene(1, pods(1));
    scene.onResponding = request -> {
      assertThat(request.responseStatus()).isEqualTo(201);
      assertThat(request.responseHeaders("Mcp-Session-Id")).containsExactly("s");
      assertThat(request.pod()).isEqualTo(pod(1));
      request.addResponseHeader("Set-Cookie", "a=b");
    };

    var gateway = scene.open(get(), responseHeaders(201, false, "mcp-session-id", "s"));

    var added = gateway.last().getResponseHeaders().getResponse().getHeaderMutation()
        .getSetHeadersList();
    assertThat(added).singleElement().satisfies(option -> {
      assertThat(option.getHeader().getKey()).isEqualTo("set-cookie");
      assertThat(option.getAppend().getValue()).isTrue();
    });
  }

  @Test
  void readsNoMoreOfABodyThanItMayHold_andCountsIt() {
    var scene = scene(1, 10);
    var gateway = scene.open(post());
    for (int i = 0; i < 100; i++) {
      gateway.send(requestBody("x".repeat(16 << 10), i == 99));
    }
    assertThat(gateway.unread()).isEqualTo(96);
    assertThat(scene.held.total()).isGreaterThanOrEqualTo(64 << 10);

    scene.has(pods(1));
    assertThat(gateway.unread()).isZero();
    assertThat(gateway.received).hasSize(101);
    assertThat(EnvoyMessages.streamed(gateway.last())).endsWith("x|");
    assertThat(scene.held.total()).isZero();
  }

  @Test
  void readsABoundedNumberOfEmptyPartsWhileTheRequestWaits() {
    var scene = scene(1, 10);
    var gateway = scene.open(post());
    var empty = new ProcessingRequest[10_000];
    Arrays.fill(empty, requestBody("", false));

    gateway.send(empty);

    assertThat(gateway.unread()).isPositive();
    scene.has(pods(1));
    assertThat(gateway.unread()).isZero();
    assertThat(gateway.received).hasSize(1 + empty.length);
    assertThat(scene.held.total()).isZero();
  }
}
