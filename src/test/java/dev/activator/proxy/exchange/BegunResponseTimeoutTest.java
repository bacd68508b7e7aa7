package dev.activator.proxy.exchange;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Who ends a response that has begun when its time is over: the queue-proxy, which has the same limits, or the activator.
 *
 * <p><b>Source.</b> {@code TestRevisionTimeout/writes_first_byte_before_timeout} of Knative's conformance tests.
 */
class BegunResponseTimeoutTest {
  private static final Duration NONE = Duration.ZERO;

  private static OnePod scene(RequestTimeouts timeouts, @Nullable ReadinessProbeSpec probe) {
    return new OnePod(
        new Revision(new RevisionId("default", "hello-00001"), "", PortProtocol.HTTP1, 0,
            timeouts, true, probe, Map.of(), Map.of(), null));
  }

  private static OnePod withQueueProxy(Duration overall, Duration idle) {
    return scene(new RequestTimeouts(overall, NONE, idle), null);
  }

  /** A response whose first bytes come at once. */
  private static FakePod.Connection begins(OnePod scene) {
    var pod = scene.pod.keepsOne();
    scene.throttle.keepPermits();
    scene.send(HttpVersion.HTTP_1_1, HttpMethod.GET);
    pod.answers(200);
    sends(pod, "begun ");
    return pod;
  }

  private static void sends(FakePod.Connection pod, String text) {
    pod.sends(new DefaultHttpContent(Unpooled.copiedBuffer(text, US_ASCII)));
  }

  @Test
  void passesTheEndOn_whenTheQueueProxyEndsAResponseAtItsLimit() {
    var scene = withQueueProxy(ofSeconds(10), NONE);
    var pod = begins(scene);

    scene.loop.advance(ofMillis(10_200));
    pod.sends(new DefaultLastHttpContent(Unpooled.copiedBuffer("timeout", US_ASCII)));

    assertThat(scene.caller.body()).isEqualTo("begun timeout");
    assertThat(scene.caller.aborted()).isFalse();
    assertThat(scene.counted).hasValue(0);
  }

  @Test
  void breaksOff_whenTheQueueProxyDoesNotEndAResponseWithinASecond() {
    var scene = withQueueProxy(ofSeconds(10), NONE);
    begins(scene);

    scene.loop.advance(ofMillis(10_999));
    assertThat(scene.caller.aborted()).isFalse();
    scene.loop.advance(ofMillis(1));

    assertThat(scene.caller.aborted()).isTrue();
    assertThat(scene.counted).hasValue(0);
    assertThat(scene.throttle.inFlight()).isZero();
  }

  @Test
  void breaksOffAtTheLimit_whenThereIsNoQueueProxy() {
    var scene = scene(new RequestTimeouts(ofSeconds(10), NONE, NONE), ReadinessProbeSpec.CONNECT);
    begins(scene);

    scene.loop.advance(ofMillis(9_999));
    assertThat(scene.caller.aborted()).isFalse();
    scene.loop.advance(ofMillis(1));

    assertThat(scene.caller.aborted()).isTrue();
  }

  @Test
  void countsFromThePermit_whenTheRequestWasQueued() {
    // given a request that waits 9 s for a pod
    var scene = withQueueProxy(ofSeconds(10), NONE);
    var pod = scene.pod.keepsOne();
    scene.throttle.stop();
    scene.send(HttpVersion.HTTP_1_1, HttpMethod.GET);
    scene.loop.advance(ofSeconds(9));
    scene.throttle.grow(new Destination("10.1.1.1", 8012), 1);
    scene.loop.run();
    pod.answers(200);
    sends(pod, "begun ");

    // then the queue-proxy has the whole time from there
    scene.loop.advance(ofMillis(10_999));
    assertThat(scene.caller.aborted()).isFalse();
    scene.loop.advance(ofMillis(1));
    assertThat(scene.caller.aborted()).isTrue();
  }

  @Test
  void leavesTheIdleLimitToTheQueueProxyForASecond() {
    var scene = withQueueProxy(ofSeconds(60), ofSeconds(5));
    var pod = begins(scene);
    scene.loop.advance(ofSeconds(4));
    sends(pod, "more ");

    scene.loop.advance(ofMillis(5_999));
    assertThat(scene.caller.aborted()).isFalse();
    scene.loop.advance(ofMillis(1));

    assertThat(scene.caller.aborted()).isTrue();
  }

  @Test
  void countsWhatTheCallerReadsAsActivity() {
    var scene = scene(new RequestTimeouts(ofSeconds(60), NONE, ofSeconds(5)),
        ReadinessProbeSpec.CONNECT);
    begins(scene);
    scene.caller.reads(true);
    scene.loop.advance(ofSeconds(12));
    assertThat(scene.caller.aborted()).isFalse();

    scene.caller.reads(false);
    scene.loop.advance(ofSeconds(5));

    assertThat(scene.caller.aborted()).isTrue();
  }

  @Test
  void breaksOffAtTheLimit_thoughTheCallerReads() {
    var scene = scene(new RequestTimeouts(ofSeconds(60), NONE, ofSeconds(5)),
        ReadinessProbeSpec.CONNECT);
    begins(scene);
    scene.caller.reads(true);

    scene.loop.advance(ofSeconds(60));

    assertThat(scene.caller.aborted()).isTrue();
  }

  @Test
  void answers504AtTheLimit_whenNothingOfTheResponseHasCome() {
    var scene = withQueueProxy(ofSeconds(10), NONE);
    scene.pod.keepsOne();
    scene.throttle.keepPermits();
    scene.send(HttpVersion.HTTP_1_1, HttpMethod.GET);

    scene.loop.advance(ofSeconds(10));

    assertThat(scene.caller.statuses).containsExactly(504);
  }
}
