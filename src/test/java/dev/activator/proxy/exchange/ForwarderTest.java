package dev.activator.proxy.exchange;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.http.HeaderFieldList;
import dev.activator.testing.FakeThrottle;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.UpstreamFailure;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long a pod has to accept a connection, the first one and each that takes its place. */
class ForwarderTest {
  private final OnePod scene = new OnePod();
  private final VirtualLoop loop = scene.loop;
  private final FakePod pod = scene.pod;
  private final FakeThrottle throttle = scene.throttle;
  private final SilentCaller caller = scene.caller;

  @BeforeEach
  void onePermit() {
    throttle.keepPermits();
  }

  /** A GET that is sent to the pod. */
  private Exchange get() {
    return scene.send(HttpVersion.HTTP_1_1, HttpMethod.GET);
  }

  @Test
  void givesUpAPodThatDoesNotAcceptForASecond() {
    get();
    loop.advance(ofMillis(999));
    assertThat(pod.isDialled()).isTrue();

    loop.advance(ofMillis(1));

    assertThat(pod.givenUp()).isOne();
    assertThat(throttle.retried()).isOne();
  }

  @Test
  void waitsForAHandshakeThatGoesOn_andASecondAfterIt() {
    // given a pod that accepts the connection, and is slow to answer the TLS handshake
    pod.wantsGrace(ofSeconds(1));
    get();

    // when it goes on for longer than a pod may take to accept, then it is waited for
    loop.advance(ofMillis(3_900));
    assertThat(pod.givenUp()).isZero();
    assertThat(throttle.retried()).isZero();

    // when it ends, and no connection comes of it for a second, then the request goes elsewhere
    pod.wantsGrace(ofMillis(900));
    loop.advance(ofMillis(100));
    pod.wantsGrace(ofMillis(0));
    loop.advance(ofMillis(899));
    assertThat(pod.givenUp()).isZero();
    loop.advance(ofMillis(1));
    assertThat(pod.givenUp()).isOne();
    assertThat(throttle.retried()).isOne();
  }

  @Test
  void givesTheDialThatReplacesADeadConnectionItsOwnSecond() {
    // given a kept connection that turns out dead after a while
    var kept = pod.keepsOne();
    get();
    loop.advance(ofSeconds(5));
    kept.ends();

    // when the pod does not accept another
    loop.advance(ofMillis(999));
    assertThat(pod.isDialled()).isTrue();
    assertThat(throttle.retried()).isZero();
    loop.advance(ofMillis(1));

    // then the request goes back a second after the new dial began, once
    assertThat(pod.dials()).isOne();
    assertThat(pod.givenUp()).isOne();
    assertThat(throttle.retried()).isOne();
    assertThat(loop.pending()).as("the caller's one timer").isOne();
  }

  @Test
  void countsTheSecondOfASecondDialFromItsOwnBeginning() {
    // given a first dial of 900 ms, whose connection ends 50 ms later
    get();
    loop.advance(ofMillis(900));
    var first = pod.accepts();
    loop.advance(ofMillis(50));
    first.ends();

    // when the second begins at 950 ms, then it ends at 1950 ms
    loop.advance(ofMillis(999));
    assertThat(pod.isDialled()).isTrue();
    loop.advance(ofMillis(1));
    assertThat(pod.givenUp()).isOne();
    assertThat(throttle.retried()).isOne();
  }

  @Test
  void passesABodyOnThatComesAfterAResponseWithoutA100() {
    // given a caller that awaits a 100, and a pod that answers without one
    var kept = pod.keepsOne();
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/",
        HeaderFieldList.CHECKED);
    request.headers().set("Expect", "100-continue").set("Content-Length", 5);
    var exchange = scene.send(request);
    kept.answers(200);

    // when the caller sends its body all the same, then the pod gets it
    exchange.content(new DefaultLastHttpContent(Unpooled.copiedBuffer("hello", US_ASCII)));
    assertThat(kept.body()).isEqualTo("hello.0");
  }

  @Test
  void refusesARequestForWhichThereIsNoMemory() {
    var kept = pod.keepsOne();
    get();

    kept.fails(UpstreamFailure.NO_MEMORY);

    assertThat(caller.statuses).containsExactly(503);
    assertThat(throttle.inFlight()).isZero();
    assertThat(throttle.retried()).isZero();
    assertThat(pod.isDialled()).isFalse();
  }

  @Test
  void breaksAResponseOffForWhichThereIsNoMemory() {
    var kept = pod.keepsOne();
    get();
    kept.answers(200);

    kept.fails(UpstreamFailure.NO_MEMORY);

    assertThat(caller.statuses).containsExactly(200);
    assertThat(throttle.inFlight()).isZero();
  }

  @Test
  void leavesAConnectionAloneThatWasMadeInTime() {
    var kept = pod.keepsOne();
    get();
    kept.ends();
    loop.advance(ofMillis(999));

    pod.accepts();
    loop.advance(ofSeconds(10));

    assertThat(pod.givenUp()).isZero();
    assertThat(throttle.retried()).isZero();
    assertThat(throttle.inFlight()).isOne();
  }

  @Test
  void reportsOnceADialThatIsRefusedInTime() {
    var kept = pod.keepsOne();
    get();
    kept.ends();
    loop.advance(ofMillis(500));

    pod.refuses();
    loop.advance(ofSeconds(10));

    assertThat(throttle.retried()).isOne();
    assertThat(loop.pending()).as("the caller's one timer").isOne();
  }

  @Test
  void forgetsTheTimeOfADialWhoseCallerIsGone() {
    var kept = pod.keepsOne();
    var exchange = get();
    kept.ends();

    exchange.callerGone();

    assertThat(pod.givenUp()).isOne();
    assertThat(loop.pending()).as("the caller's one timer").isOne();
    assertThat(throttle.inFlight()).isZero();
    loop.advance(ofSeconds(600));
    assertThat(pod.givenUp()).isOne();
    assertThat(throttle.retried()).isZero();
    assertThat(loop.pending()).isZero();
  }

  /** A POST whose caller waits for a 100, sent on a connection that was made. */
  private FakePod.Connection postThatWaitsToBeToldToGoOn() {
    postThatExpectsA100();
    return pod.accepts();
  }

  private Exchange postThatExpectsA100() {
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/",
        HeaderFieldList.CHECKED);
    request.headers().set("Expect", "100-continue").set("Content-Length", "5");
    return scene.send(request);
  }

  @Test
  void sendsTheBodyAtOnce_whenItsCallerDoesNotWaitForThe100() {
    var exchange = postThatExpectsA100();
    var connection = pod.accepts();
    assertThat(connection.body()).isEmpty();

    exchange.content(new DefaultHttpContent(Unpooled.copiedBuffer("he", US_ASCII)));
    assertThat(connection.body()).isEqualTo("he");
    exchange.content(new DefaultLastHttpContent(Unpooled.copiedBuffer("llo", US_ASCII)));

    assertThat(connection.body()).isEqualTo("hello.0");
    loop.advance(ofSeconds(10));
    assertThat(caller.statuses).isEmpty();
  }

  @Test
  void sendsABodyAtOnce_thatCameWhileTheRequestWaitedForThePod() {
    var exchange = postThatExpectsA100();
    exchange.content(new DefaultLastHttpContent(Unpooled.copiedBuffer("hello", US_ASCII)));

    assertThat(pod.accepts().body()).isEqualTo("hello.0");
  }

  @Test
  void sendsTheBody_whenThePodSaysNothingForASecond() {
    postThatWaitsToBeToldToGoOn();

    loop.advance(ofMillis(999));
    assertThat(caller.statuses).isEmpty();
    loop.advance(ofMillis(1));

    assertThat(caller.statuses).containsExactly(100);
    loop.advance(ofSeconds(10));
    assertThat(caller.statuses).containsExactly(100);
  }

  @Test
  void passesAHundredInterimResponsesOn_andOneMoreForEachSecondAfterTheFirst() {
    var connection = pod.keepsOne();
    get();
    for (int i = 0; i < 100; i++) {
      connection.answersForNow(103);
    }
    loop.advance(ofSeconds(2));
    connection.answersForNow(103);
    connection.answersForNow(103);
    assertThat(caller.statuses).hasSize(102).containsOnly(103);

    connection.answersForNow(103);

    assertThat(caller.statuses).hasSize(103).endsWith(502);
    assertThat(throttle.inFlight()).isZero();
  }

  @Test
  void requestsNoBodyOnceThePodHasBegunToAnswer() {
    var connection = postThatWaitsToBeToldToGoOn();

    connection.answers(200);
    loop.advance(ofSeconds(10));

    assertThat(caller.statuses).containsExactly(200);
  }

  @Test
  void doesNotDial_whenTheCallersDeadlineIsOver() {
    loop.readingsTake(1);
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
        HeaderFieldList.CHECKED);
    request.headers().set("grpc-timeout", "1n");

    scene.request(request);

    assertThat(caller.statuses).containsExactly(504);
    assertThat(pod.dials()).isZero();
    assertThat(throttle.inFlight()).isZero();
  }

  @Test
  void doesNotDialAgain_whenTheCallersDeadlineIsOver() {
    var kept = pod.keepsOne();
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
        HeaderFieldList.CHECKED);
    request.headers().set("grpc-timeout", "1S");
    scene.send(request);
    loop.advance(ofSeconds(1));

    kept.ends();

    assertThat(caller.statuses).containsExactly(504);
    assertThat(pod.dials()).isZero();
    assertThat(throttle.inFlight()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"999, 502", "1000, 504"})
  void takesACancellationByThePodForTheDeadline_ifThatIsOver(int afterMillis, int status) {
    var kept = pod.keepsOne();
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/",
        HeaderFieldList.CHECKED);
    request.headers().set("grpc-timeout", "1S");
    scene.send(request);
    kept.sendsHead();
    loop.advance(ofMillis(afterMillis));

    kept.fails(UpstreamFailure.CANCELLED);

    assertThat(caller.statuses).containsExactly(status);
    assertThat(throttle.inFlight()).isZero();
  }

  @Test
  void releasesThePermit_whenForwardingFails() {
    pod.isBroken();

    scene.request(
        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/", HeaderFieldList.CHECKED));

    assertThat(caller.statuses).containsExactly(500);
    assertThat(throttle.inFlight()).isZero();
    assertThat(scene.counted).hasValue(0);
  }

  @Test
  void releasesThePermitAndCountsOut_whenLeavingThePodFails() {
    var exchange = get();
    pod.isBroken();

    assertThatThrownBy(exchange::callerGone).hasMessage("on purpose");

    assertThat(throttle.inFlight()).isZero();
    assertThat(scene.counted).hasValue(0);
    // And it has ended once.
    exchange.callerGone();
    assertThat(scene.counted).hasValue(0);
  }
}
