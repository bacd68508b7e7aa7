package dev.activator.ext.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.activator.loop.LogLimit;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.Activator;
import dev.activator.proxy.WireTest;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Revision;
import dev.activator.testing.FreePort;
import dev.activator.testing.LogLines;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.upstream.UpstreamFailure;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections over sockets, to pods that follow scripts. */
class TcpConnectionTest extends WireTest {
  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private Channel listening;
  private int port;

  @BeforeEach
  void listen() throws Exception {
    var live = Objects.requireNonNull(activator.revisions.live.find(Activator.HELLO));
    var refusals = new LogLimit();
    while (listening == null) {
      port = FreePort.next();
      try {
        listening = activator.server.listenFor("127.0.0.1", port,
            (client, dispatcher) -> TcpConnection.accept(client,
                Objects.requireNonNull(ConnectionAddresses.of(client)), dispatcher, live,
                refusals))
            .get();
      } catch (ExecutionException taken) {
        // By another process, since it was looked at.
        continue;
      }
    }
  }

  private RawPeer client() throws IOException {
    return RawPeer.connect(port);
  }

  /** Answers each line with the same in capitals. */
  private void shout(RawPeer caller) throws IOException {
    while (true) {
      var line = caller.readLine();
      received.add(line);
      caller.send(line.toUpperCase(Locale.ROOT) + "\r\n");
    }
  }

  private void ended(RequestOutcome outcome) throws InterruptedException {
    var seen = activator.requests.ended.poll(120, TimeUnit.SECONDS);
    assertThat(seen).isNotNull();
    assertThat(seen.request().outcome()).isEqualTo(outcome);
  }

  @Test
  void theFirstBytesReachAPodThatStartsLater() throws Exception {
    try (var client = client()) {
      client.send("hello\r\n");
      eventually(() -> assertThat(activator.held.total()).isEqualTo(7));
      assertThat(activator.counted).hasValue(1);

      pod(this::shout);

      assertThat(client.readLine()).isEqualTo("HELLO");
      client.send("again\r\n");
      assertThat(client.readLine()).isEqualTo("AGAIN");
    }
    assertThat(received).containsExactly("hello", "again");
    eventually(() -> assertThat(activator.requests.ended).hasSize(1));
    assertThat(activator.requests.ended.peek().steps()).containsExactly(Step.ARRIVED, Step.QUEUED,
        Step.GRANTED, Step.FORWARDING, Step.RESPONDING, Step.ENDED);
  }

  @Test
  void aServerMaySpeakFirst() throws Exception {
    try (var client = client()) {
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));
      pod(caller -> {
        caller.send("ready\r\n");
        shout(caller);
      });

      assertThat(client.readLine()).isEqualTo("ready");
      client.send("go\r\n");
      assertThat(client.readLine()).isEqualTo("GO");
    }
  }

  @Test
  void aClientMayEndFirst_andReadsTheAnswer() throws Exception {
    pod(caller -> caller.send("got " + caller.readToEnd()));
    try (var client = client()) {
      client.send("all").endOutput();
      assertThat(client.readToEnd()).isEqualTo("got all");
    }
    ended(RequestOutcome.UPGRADED);
  }

  @Test
  void aClientThatHasEndedWaitsForThePod_ifItHasSentSomething() throws Exception {
    try (var client = client()) {
      client.send("early").endOutput();
      eventually(() -> assertThat(activator.held.total()).isEqualTo(5));
      pod(caller -> caller.send("got " + caller.readToEnd()));
      assertThat(client.readToEnd()).isEqualTo("got early");
    }
  }

  @Test
  void aClientMayEndWithoutAByte_andReadsWhatAPodThatIsThereHasToSay() throws Exception {
    pod(caller -> caller.send("ready " + caller.readToEnd()));
    for (int i = 0; i < 20; i++) {
      try (var client = client()) {
        client.endOutput();
        assertThat(client.readToEnd()).isEqualTo("ready ");
      }
      ended(RequestOutcome.UPGRADED);
    }
  }

  @Test
  void aPodMayEndFirst_andReadsWhatTheClientStillSends() throws Exception {
    pod(caller -> {
      caller.send("bye");
      caller.endOutput();
      received.add(caller.readToEnd());
    });
    try (var client = client()) {
      assertThat(client.readToEnd()).isEqualTo("bye");
      client.send("one more").endOutput();
      // On a busy machine the pod is dialled twice, and the other connection ends without a byte.
      eventually(() -> assertThat(received).contains("one more"));
    }
    ended(RequestOutcome.UPGRADED);
  }

  @Test
  void aHealthCheckThatConnectsAndClosesStartsNothing() throws Exception {
    // On a busy machine, one may not be closed in time.
    eventually(() -> {
      int before = activator.arrivals.get();
      checks();
      assertThat(activator.arrivals).hasValue(before);
    });
  }

  private void checks() {
    try {
      client().close();
      assertThat(next(activator.requests.ended).steps()).containsExactly(Step.ARRIVED, Step.ENDED);
      client().reset();
      assertThat(next(activator.requests.ended).steps()).containsExactly(Step.ARRIVED, Step.ENDED);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aHealthCheckDoesNotCount_thoughAPodTakesItsTimeToEndIt() throws Exception {
    startSlowly();
    listening = null;
    listen();
    var over = new CountDownLatch(1);
    var pod = idlePod(caller -> {
      received.add(caller.readToEnd());
      await(over);
    });
    activator.throttle.grow(pod.destination(), 1);
    client().close();
    assertThat(next(received)).isEmpty();
    try (var _ = client()) {
      // One that has arrived later counts by now.
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));
      assertThat(activator.arrivals).hasValue(1);
    }
    over.countDown();
  }

  @Test
  void aClientThatLeavesGivesItsPlaceUp() throws Exception {
    try (var _ = client()) {
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));
    }
    ended(RequestOutcome.CALLER_GONE);
    var busy = client();
    busy.send("something");
    eventually(() -> assertThat(activator.held.total()).isPositive());
    busy.reset();
    ended(RequestOutcome.CALLER_GONE);
    eventually(() -> assertThat(activator.throttle.queued()).isZero());
    assertThat(activator.counted).hasValue(0);
  }

  @Test
  void aClientThatHasEnded_andIsGoneThen_leavesNothingAtAPodThatDoesNotAnswer() throws Exception {
    var gone = new CountDownLatch(1);
    pod(caller -> {
      received.add(caller.readToEnd());
      await(gone);
    });
    var client = client();
    client.send("all").endOutput();
    eventually(() -> assertThat(received).contains("all"));
    client.reset();
    ended(RequestOutcome.CALLER_GONE);
    gone.countDown();
  }

  @Test
  void theLastBytesOfAPodThatHasEnded_andIsGoneThen_reachASlowClient() throws Exception {
    // More than the client's buffer, and all is read of the pod at once.
    var text = "x".repeat(40_000);
    var sent = new CountDownLatch(1);
    var gone = new CountDownLatch(1);
    pod(caller -> {
      caller.send(text).endOutput();
      sent.countDown();
      await(gone);
      caller.reset();
    });
    try (var client = RawPeer.connectWithSmallBuffer(port)) {
      client.send("hello");
      await(sent);
      activator.awaitTurn();
      activator.awaitTurn();
      gone.countDown();
      ended(RequestOutcome.BAD_GATEWAY);

      assertThat(client.readToEnd()).isEqualTo(text);
    }
  }

  @Test
  void manyShortConnectionsLeaveNothingBehind() throws Exception {
    for (int i = 0; i < 1000; i++) {
      try (var client = client()) {
        client.send("something");
        if (i % 2 == 0) {
          client.reset();
        }
      }
    }
    // A client that has sent something, and ends in order, waits for an answer.
    eventually(() -> {
      assertThat(activator.throttle.queued()).isEqualTo(500);
      assertThat(activator.held.total()).isEqualTo(500 * 9);
    });
    pod(RawPeer::readToEnd);
  }

  @Test
  void aPodThatRefusesIsReplacedByAnother() throws Exception {
    var other = idlePod(this::shout);
    activator.throttle.retriesGoTo(other.destination());
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    try (var client = client()) {
      client.send("hello\r\n");
      assertThat(client.readLine()).isEqualTo("HELLO");
    }
    assertThat(activator.throttle.retried()).isEqualTo(1);
    assertThat(received).containsExactly("hello");
  }

  @Test
  void aPodThatResetsBeforeAByteIsReplacedByAnother() throws Exception {
    var other = idlePod(caller -> caller.send("ready"));
    var first = idlePod(RawPeer::reset);
    activator.throttle.retriesGoTo(other.destination());
    activator.throttle.grow(first.destination(), 1);
    try (var client = client()) {
      assertThat(client.read(5)).isEqualTo("ready");
    }
  }

  @Test
  void aPodThatResetsAfterAByteHasFailed() throws Exception {
    pod(caller -> {
      received.add(caller.readLine());
      caller.reset();
    });
    try (var client = client()) {
      client.send("insert\r\n");
      assertThat(next(received)).isEqualTo("insert");
      assertThatThrownBy(client::readToEnd).isInstanceOf(SocketException.class);
    }
    ended(RequestOutcome.BAD_GATEWAY);
    assertThat(activator.throttle.granted()).isEqualTo(1);
    assertThat(received).isEmpty();
  }

  @Test
  void theLastWordsOfAPodThatResetsReachTheClient() throws Exception {
    pod(caller -> {
      caller.send("FATAL: too many clients\r\n");
      received.add(caller.readLine());
      caller.reset();
    });
    try (var client = client()) {
      client.send("x\r\n");
      assertThat(client.readLine()).isEqualTo("FATAL: too many clients");
      client.awaitEnd();
    }
  }

  @Test
  void aPodThatAcceptsAndClosesIsTriedAFewTimesOnly() throws Exception {
    var pod = pod(RawPeer::close);
    try (var client = client()) {
      assertThatThrownBy(client::readToEnd).isInstanceOf(SocketException.class);
    }
    ended(RequestOutcome.BAD_GATEWAY);
    assertThat(activator.throttle.granted()).isEqualTo(6);
    assertThat(pod.connections()).isLessThanOrEqualTo(6);
  }

  @Test
  void aRejectedConnectionIsReset() throws Exception {
    try (var client = client()) {
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));
      activator.throttle.reject(new Rejection.ShuttingDown(Activator.HELLO));
      assertThatThrownBy(client::readToEnd).isInstanceOf(SocketException.class);
    }
    ended(RequestOutcome.SHUTTING_DOWN);
  }

  @Test
  void aConnectionWaitsAsLongAsARequest() throws Exception {
    activator.throttle.queueTimeout = Duration.ofMillis(50);
    try (var client = client()) {
      assertThatThrownBy(client::readToEnd).isInstanceOf(SocketException.class);
    }
    ended(RequestOutcome.QUEUE_TIMEOUT);
  }

  @Test
  void onlySomeOfTheFirstBytesAreHeld_andAllArrive() throws Exception {
    int size = 8 << 20;
    try (var client = client()) {
      var writer = Thread.ofVirtual().start(() -> {
        try {
          client.send("x".repeat(size)).endOutput();
        } catch (IOException e) {
          received.add(e.toString());
        }
      });
      eventually(() -> assertThat(activator.held.total()).isBetween(64L << 10, 256L << 10));

      pod(caller -> {
        long all = caller.drain(Long.MAX_VALUE);
        caller.send(all + " bytes");
      });
      assertThat(client.readToEnd()).isEqualTo(size + " bytes");
      writer.join();
    }
    assertThat(received).isEmpty();
  }

  @Test
  void bytesPassBothWaysAtOnce_asFastAsTheSlowerSideReads() throws Exception {
    int size = 32 << 20;
    var read = new CountDownLatch(1);
    pod(caller -> {
      var writer = Thread.ofVirtual().start(() -> {
        try {
          caller.send(new byte[size]).endOutput();
        } catch (IOException e) {
          received.add(e.toString());
        }
      });
      await(read);
      received.add(Long.toString(caller.drain(Long.MAX_VALUE)));
      join(writer);
    });
    try (var client = client()) {
      var writer = Thread.ofVirtual().start(() -> {
        try {
          client.send(new byte[size]).endOutput();
        } catch (IOException e) {
          received.add(e.toString());
        }
      });
      assertThat(client.drain(Long.MAX_VALUE)).isEqualTo(size);
      read.countDown();
      eventually(() -> assertThat(received).contains(Integer.toString(size)));
      writer.join();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aDrainEndsTheListening_andWaitsForOpenConnections() throws Exception {
    pod(this::shout);
    try (var client = client()) {
      client.send("one\r\n");
      assertThat(client.readLine()).isEqualTo("ONE");

      var drained = activator.server.drain().toCompletableFuture();
      listening.closeFuture().await();

      client.send("two\r\n");
      assertThat(client.readLine()).isEqualTo("TWO");
      assertThat(drained).isNotDone();
      client.close();
      drained.get(120, TimeUnit.SECONDS);
    }
    var late = activator.server.listenFor("127.0.0.1", 0, (_, _) -> {
    });
    assertThatThrownBy(() -> late.get(120, TimeUnit.SECONDS))
        .isInstanceOf(CancellationException.class);
  }

  private void idle(String... settings) {
    var annotations = new HashMap<String, String>();
    for (var setting : settings) {
      annotations.put("activator.dev/tcp-" + setting.split("=")[0], setting.split("=")[1]);
    }
    var hello = activator.revisions.get(Activator.HELLO);
    activator.revisions.put(new Revision(hello.id(), hello.uid(), PortProtocol.TCP, 0,
        hello.timeouts(), true, null, Map.of(), annotations, null));
  }

  @Test
  void anIdleConnectionDoesNotCount_untilItsNextByte() throws Exception {
    idle("idle-after-seconds=1");
    pod(this::shout);
    try (var client = client()) {
      client.send("one\r\n");
      assertThat(client.readLine()).isEqualTo("ONE");
      eventually(() -> assertThat(activator.counted).hasValue(0));
      assertThat(activator.throttle.inFlight()).isEqualTo(1);

      client.send("two\r\n");
      assertThat(client.readLine()).isEqualTo("TWO");
      assertThat(activator.arrivals).hasValueGreaterThan(1);
      eventually(() -> assertThat(activator.counted).hasValue(0));
    }
    ended(RequestOutcome.UPGRADED);
  }

  @Test
  void anIdleConnectionIsClosed_ifThatIsWanted() throws Exception {
    idle("idle-after-seconds=1", "close-idle=true");
    pod(caller -> {
      caller.send("ready");
      received.add("then " + caller.readToEnd());
    });
    try (var client = client()) {
      assertThat(client.readToEnd()).isEqualTo("ready");
      assertThat(next(received)).isEqualTo("then ");
    }
    ended(RequestOutcome.UPGRADED);
  }

  @Test
  void aConnectionIsNotIdleWhileItsClientHasBytesToRead() throws Exception {
    // The pod may have to wait for a core before it sends on.
    idle("idle-after-seconds=4", "close-idle=true");
    int size = 32 << 20;
    pod(caller -> {
      if (caller.readLine().equals("all")) {
        caller.send(new byte[size]).endOutput();
      }
      caller.readToEnd();
    });
    try (var slow = client()) {
      slow.send("all\r\n").read(1);
      for (int i = 0; i < 2; i++) {
        try (var other = client()) {
          other.send("nothing\r\n");
          assertThat(other.readToEnd()).isEmpty();
        }
      }
      assertThat(slow.drain(Long.MAX_VALUE)).isEqualTo(size - 1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPermitIsHeldUntilThePodHasEnded_alsoIfTheClientEndsBefore(boolean idle) throws Exception {
    if (idle) {
      idle("idle-after-seconds=1", "close-idle=true");
    }
    pod(caller -> {
      caller.send("ready");
      caller.readToEnd();
      received.add(activator.throttle.inFlight() + " in flight");
    });
    try (var client = client()) {
      assertThat(client.read(5)).isEqualTo("ready");
      if (!idle) {
        client.send("all").endOutput();
      }
      assertThat(client.readToEnd()).isEmpty();
    }
    assertThat(next(received)).isEqualTo("1 in flight");
    eventually(() -> assertThat(activator.throttle.inFlight()).isZero());
  }

  /** How a connection ends whose pod does not close it. */
  private enum Ended {
    CLIENT_RESETS,
    POD_ENDS_ITS_HALF_BEFORE,
    POD_ENDS_ITS_HALF_BEFORE_A_BYTE
  }

  @ParameterizedTest
  @EnumSource
  void aPermitComesBackOnlyAfterThePodWasSentTheEnd(Ended how) throws Exception {
    var ended = new CountDownLatch(1);
    var pod = idlePod(caller -> {
      if (how != Ended.POD_ENDS_ITS_HALF_BEFORE_A_BYTE) {
        received.add(caller.readLine());
      }
      if (how != Ended.CLIENT_RESETS) {
        caller.endOutput();
      }
      caller.awaitEnd();
      ended.countDown();
    });
    // The loop waits here: what it has not sent to the pod by now is not sent.
    activator.throttle.onRelease = () -> received.add(isDone(ended) ? "the end" : "no end");
    activator.throttle.allowNoRetries();
    activator.throttle.grow(pod.destination(), 1);
    try (var client = client()) {
      switch (how) {
        case CLIENT_RESETS -> {
          client.send("hello\r\n");
          assertThat(next(received)).isEqualTo("hello");
          client.reset();
        }
        case POD_ENDS_ITS_HALF_BEFORE -> {
          client.send("hello\r\n");
          assertThat(client.readToEnd()).isEmpty();
          assertThat(next(received)).isEqualTo("hello");
          client.endOutput();
        }
        case POD_ENDS_ITS_HALF_BEFORE_A_BYTE -> client.awaitEnd();
      }
      assertThat(next(received)).isEqualTo("the end");
    }
  }

  private static boolean isDone(CountDownLatch latch) {
    try {
      return latch.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void itIsSaidHowTheLastPodFailed() throws Exception {
    var closes = idlePod(RawPeer::close);
    activator.throttle.retriesGoTo(closes.destination());
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    try (var client = client()) {
      assertThatThrownBy(client::readToEnd).isInstanceOf(SocketException.class);
    }
    var seen = activator.requests.ended.poll(120, TimeUnit.SECONDS);
    assertThat(seen.request().failure()).isEqualTo(UpstreamFailure.CLOSED.text());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anErrorInsideTheActivatorGivesThePermitBack_andResetsTheClient(boolean waits)
      throws Exception {
    activator.requests.showTo((step, _) -> {
      if (step == Step.FORWARDING) {
        throw new IllegalStateException("on purpose");
      }
    });
    if (!waits) {
      pod(this::shout);
    }
    try (var lines = LogLines.of(TcpConnection.class); var client = client()) {
      if (waits) {
        client.send("hello\r\n");
        eventually(() -> assertThat(activator.held.total()).isEqualTo(7));
        pod(this::shout);
      }
      // Where it does not wait, the reset may come before the client has sent anything.
      assertThatThrownBy(() -> {
        if (!waits) {
          client.send("hello\r\n");
        }
        client.readToEnd();
      }).isInstanceOf(SocketException.class);
      ended(RequestOutcome.INTERNAL);
      assertThat(lines.at(Level.ERROR)).hasSize(1);
    }
    assertThat(activator.throttle.granted()).isEqualTo(1);
    eventually(() -> assertThat(activator.throttle.inFlight()).isZero());
  }

  @Test
  void requestsDoNotGetToATcpPort() throws Exception {
    var hello = activator.revisions.get(Activator.HELLO);
    activator.revisions.put(new Revision(hello.id(), hello.uid(),
        PortProtocol.TCP, 0, hello.timeouts(), true, null,
        Map.of(), Map.of(), null));
    try (var caller = activator.get("/")) {
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 404 Not Found");
    }
  }
}
