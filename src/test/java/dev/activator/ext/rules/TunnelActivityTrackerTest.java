package dev.activator.ext.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.testing.TestRevisions;
import dev.activator.config.ColdStartRulesReader;
import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.testing.StubDownstream;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.Throttler;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TunnelActivityTrackerTest {
  private static final RevisionId ID = new RevisionId("default", "hello-00001");
  private static final Destination POD = new Destination("10.1.1.1", 8012);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private Revision revision = TestValues.withRules(new Revision(ID, "", PortProtocol.HTTP1, 1,
      new RequestTimeouts(Duration.ofHours(2), Duration.ZERO, Duration.ZERO), true, null, Map.of(),
      Map.of(), null),
      ColdStartRulesReader.read(Map.of(),
          Map.of(ColdStartRulesReader.IDLE_CONNECTIONS, "ignore-after=30s")));
  private final TestRevisions revisions = new TestRevisions(loop, revision);
  private final Throttler throttler = Make.throttler(revisions.live, 10);
  private final List<RevisionStat> atOnce = new ArrayList<>();
  private final List<RevisionStat> lastSecond = new ArrayList<>();
  private final ConcurrencyReporter reporter = new ConcurrencyReporter(revisions.live, loop,
      Duration.ofSeconds(1), new StatSink() {
        @Override
        public void atOnce(List<RevisionStat> stats) {
          atOnce.addAll(stats);
        }

        @Override
        public void report(List<RevisionStat> stats) {
          lastSecond.clear();
          lastSecond.addAll(stats);
        }
      });
  private final FakePod pod = new FakePod();
  private final RequestDispatcher dispatcher = Dispatchers.of(loop, ID, revisions.live,
      throttler::admit, pod,
      Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(1 << 20))).share(),
      reporter.onLoop(loop));
  private final Caller caller = new Caller(loop);

  private static final class Caller extends StubDownstream {
    private boolean away;
    private boolean ended;
    private boolean lacksMemory;
    private boolean isSlow;

    private Caller(VirtualLoop loop) {
      super(loop);
    }

    private Exchange exchange() {
      return Objects.requireNonNull(exchange);
    }

    @Override
    public void head(HttpResponse head) {
      if (lacksMemory) {
        exchange().fail(RequestFailure.memoryFull(1));
      }
    }

    @Override
    public void answer(LocalResponse answer) {
      throw new AssertionError("the pod answers");
    }

    @Override
    public boolean hasUnsent() {
      return isSlow;
    }

    @Override
    public void goAway() {
      away = true;
    }

    @Override
    public void abort() {
      ended();
    }

    @Override
    public void ended() {
      exchange = null;
      ended = true;
    }
  }

  @BeforeEach
  void start() {
    reporter.start();
    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(POD)));
    loop.run();
  }

  private FakePod.Connection connect() {
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
        HeaderFieldList.CHECKED);
    request.headers().set("Connection", "upgrade").set("Upgrade", "websocket");
    Dispatchers.dispatch(dispatcher, request, caller);
    var connection = pod.accepts();
    connection.switches();
    loop.run();
    return connection;
  }

  private static DefaultHttpContent bytes() {
    return new DefaultHttpContent(Unpooled.copiedBuffer("x", StandardCharsets.US_ASCII));
  }

  private double concurrency(int afterSeconds) {
    loop.advance(Duration.ofSeconds(afterSeconds));
    return lastSecond.stream().mapToDouble(RevisionStat::averageConcurrency).sum();
  }

  private void close(FakePod.Connection connection) {
    connection.sends(LastHttpContent.EMPTY_LAST_CONTENT);
    concurrency(3);
  }

  @Test
  void countsUntilItIsSilentForLongEnough_andKeepsItsPermit() {
    var connection = connect();
    assertThat(concurrency(30)).isEqualTo(1);

    assertThat(concurrency(4)).isZero();

    assertThat(concurrency(3600)).isZero();
    assertThat(lastSecond).isEmpty();
    assertThat(((TunnelActivityTracker) dispatcher.seams().tunnels()).silent())
        .isEqualTo(1);
    assertThat(throttler.view(ID).inFlight()).isEqualTo(1);
    assertThat(caller.away).isFalse();
    close(connection);
    assertThat(throttler.view(ID).inFlight()).isZero();
  }

  @Test
  void countsAgainWithTheNextByteOfEitherSide() {
    var connection = connect();
    concurrency(60);
    atOnce.clear();

    connection.sends(bytes());
    loop.run();
    assertThat(atOnce).hasSize(1);
    assertThat(concurrency(10)).isEqualTo(1);
    assertThat(concurrency(60)).isZero();

    caller.exchange().content(bytes());
    loop.run();
    assertThat(atOnce).hasSize(2);
    assertThat(concurrency(10)).isEqualTo(1);
    close(connection);
    assertThat(concurrency(1)).isZero();
  }

  @Test
  void aByteEveryTwentySecondsKeepsItCounted() {
    var connection = connect();
    for (int i = 0; i < 30; i++) {
      assertThat(concurrency(20)).isEqualTo(1);
      connection.sends(bytes());
    }
    close(connection);
  }

  @Test
  void countsWhileItsCallerHasNotReadAll_andIsNotClosedThen() {
    var connection = connect();
    caller.isSlow = true;
    assertThat(concurrency(60)).isEqualTo(1);

    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.NONE));
    loop.advance(Duration.ofSeconds(60));
    assertThat(caller.away).isFalse();

    // then it has read all
    caller.isSlow = false;
    loop.advance(Duration.ofSeconds(60));
    assertThat(caller.away).isTrue();
    close(connection);
  }

  @Test
  void countsWhileItsPodHasNotReadAll() {
    var connection = connect();
    connection.isSlow = true;
    assertThat(concurrency(60)).isEqualTo(1);

    connection.isSlow = false;
    assertThat(concurrency(60)).isZero();
    close(connection);
  }

  @Test
  void isClosedWhenItsPodIsWithdrawn_andItsLastBytesWakeNothing() {
    var connection = connect();
    concurrency(60);
    atOnce.clear();

    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.NONE));
    loop.advance(Duration.ofSeconds(2));
    assertThat(caller.away).isTrue();

    caller.exchange().content(bytes());
    connection.sends(bytes());
    close(connection);
    assertThat(caller.ended).isTrue();
    assertThat(atOnce).isEmpty();
    assertThat(((TunnelActivityTracker) dispatcher.seams().tunnels()).silent()).isZero();
  }

  @Test
  void isClosedWithACode_whenItsPodEndsItFirst() {
    var connection = connect();
    concurrency(60);

    close(connection);

    assertThat(caller.away).isTrue();
    assertThat(caller.ended).isTrue();
  }

  @Test
  void oneThatIsInUseIsLeftToItsPod() {
    var connection = connect();
    concurrency(5);

    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.NONE));
    loop.advance(Duration.ofSeconds(2));
    assertThat(caller.away).isFalse();

    // then it falls silent
    loop.advance(Duration.ofSeconds(60));
    assertThat(caller.away).isTrue();
    close(connection);
  }

  @Test
  void countsForEver_withoutTheSetting() {
    revision = TestValues.withRules(revision, null);
    revisions.put(revision);
    var connection = connect();

    assertThat(concurrency(120)).isEqualTo(1);
    close(connection);
    assertThat(caller.away).isFalse();
  }

  @Test
  void aCallerThatLeavesIsCountedOutOnce() {
    connect();
    concurrency(60);

    caller.exchange().callerGone();

    concurrency(2);
    assertThat(((TunnelActivityTracker) dispatcher.seams().tunnels()).silent()).isZero();
    assertThat(throttler.view(ID).inFlight()).isZero();
  }

  @Test
  void oneThatEndsAsItSwitchesIsCountedOutOnce() {
    caller.lacksMemory = true;
    connect();
    assertThat(caller.ended).isTrue();
    concurrency(60);
    assertThat(((TunnelActivityTracker) dispatcher.seams().tunnels()).silent()).isZero();

    // then the next one counts
    caller.lacksMemory = false;
    var connection = connect();
    assertThat(concurrency(10)).isEqualTo(1);
    close(connection);
    assertThat(concurrency(1)).isZero();
  }
}
