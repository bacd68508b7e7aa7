package dev.activator.throttle;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.activator.loop.Loop;
import dev.activator.testing.PatientCaller;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * How many callers are served in time by one pod that takes two requests at once, 500 ms each, while
 * more come than it can serve.
 */
@Tag("simulation")
class GoodputTest {
  private static final int CONCURRENCY = 2;
  private static final Duration SERVICE = ofMillis(500);
  private static final double CAPACITY_A_SECOND = 4;
  private static final Duration FOR_EVER = ofSeconds(1_000_000);

  private final OneRevision revision = new OneRevision(CONCURRENCY);
  private final List<Caller> callers = new ArrayList<>();
  private final Random random = new Random(5);

  /** Asks once, and leaves when its patience is over, unless it has its response. */
  private final class Caller extends PatientCaller {
    private final long arrivedNanos = revision.loop.elapsed().toNanos();
    private final Loop.Timer patience;
    private @Nullable QueueEntry place;
    private @Nullable Permit permit;
    private Loop.@Nullable Timer service;
    private long servedNanos = -1;
    private long startedNanos = -1;
    private boolean left;

    Caller(Duration patience) {
      super(revision.loop);
      callers.add(this);
      this.patience = loop().schedule(patience, this::leave);
      switch (revision.admit(this)) {
        case Permit now -> granted(now);
        case ThrottleDecision.NoRoom _ -> throw new AssertionError("it waits");
        case QueueEntry later -> place = later;
      }
    }

    @Override
    public void granted(Permit granted) {
      permit = granted;
      startedNanos = revision.loop.elapsed().toNanos();
      service = loop().schedule(SERVICE, this::served);
    }

    @Override
    public void rejected(Rejection reason) {
      patience.cancel();
      left = true;
    }

    private void served() {
      patience.cancel();
      servedNanos = revision.loop.elapsed().toNanos();
      permit.release(Ending.ANSWERED);
    }

    private void leaveIfWaiting() {
      if (!left && !isServed()) {
        patience.cancel();
        leave();
      }
    }

    private void leave() {
      left = true;
      if (service == null) {
        place.giveUp();
      } else {
        service.cancel();
        permit.release(Ending.ABANDONED);
      }
    }

    boolean isServed() {
      return servedNanos >= 0;
    }
  }

  @AfterEach
  void callersLeave() {
    callers.forEach(Caller::leaveIfWaiting);
    revision.loop.run();
  }

  /** Callers of this patience come at random, for this long. */
  private void come(double aSecond, Supplier<Duration> patience, Duration length) {
    long end = revision.loop.elapsed().toNanos() + length.toNanos();
    while (revision.loop.elapsed().toNanos() < end) {
      new Caller(patience.get());
      double gap = -Math.log(1 - random.nextDouble()) / aSecond;
      revision.loop.advance(Duration.ofNanos((long) (gap * 1e9)));
    }
  }

  private long servedWithin(Duration time) {
    return callers.stream()
        .filter(caller -> caller.isServed() && caller.servedNanos <= time.toNanos()).count();
  }

  private static Stream<Arguments> overloads() {
    return IntStream.of(2, 5, 10, 50, 100).boxed()
        .flatMap(times -> LongStream.of(20, 180).boxed()
            .flatMap(seconds -> Stream.of("1 s", "0.75 to 3 s", "10 s")
                .map(patience -> arguments(times, seconds, patience))));
  }

  private Supplier<Duration> patience(String text) {
    return switch (text) {
      case "1 s" -> () -> ofSeconds(1);
      case "10 s" -> () -> ofSeconds(10);
      default -> () -> ofMillis(random.nextLong(750, 3_000));
    };
  }

  @ParameterizedTest(name = "{0} times as many as can be served, for {1} s, each for {2}")
  @MethodSource("overloads")
  void isNineTenthsOfWhatThePodCanDo(int times, long seconds, String patience) {
    revision.pods(OneRevision.A);

    come(times * CAPACITY_A_SECOND, patience(patience), ofSeconds(seconds));

    assertThat((double) servedWithin(ofSeconds(seconds)))
        .isGreaterThanOrEqualTo(0.9 * CAPACITY_A_SECOND * seconds);
  }

  @Test
  void isThatOfThePodFromItsStartOnAfterCallersHaveLeftAllTheTime() {
    come(200, patience("1 s"), ofSeconds(10));
    revision.pods(OneRevision.A);
    come(200, patience("1 s"), ofSeconds(20));

    assertThat(callers.stream().filter(Caller::isServed).count()).isGreaterThanOrEqualTo(72);
  }

  @Test
  void isByArrivalWhileNoCallerLeaves() {
    revision.pods(OneRevision.A);

    come(100 * CAPACITY_A_SECOND, () -> FOR_EVER, ofSeconds(10));
    revision.loop.advance(ofSeconds(200));

    assertThat(started()).isEqualTo(callers.subList(0, started().size()));
    assertThat(revision.view().newestFirst()).isFalse();
  }

  private List<Caller> started() {
    return callers.stream().filter(caller -> caller.startedNanos >= 0)
        .sorted(java.util.Comparator.comparingLong(caller -> caller.startedNanos)).toList();
  }

  @Test
  void isByArrivalAgainOnceTheOverloadEnds() {
    revision.pods(OneRevision.A);
    come(200, patience("1 s"), ofSeconds(20));
    assertThat(revision.view().newestFirst()).isTrue();

    // the last leaves a second later
    revision.loop.advance(ofSeconds(4));
    assertThat(revision.view().newestFirst()).isFalse();
    callers.clear();
    come(8, () -> FOR_EVER, ofSeconds(10));
    revision.loop.advance(ofSeconds(20));

    assertThat(started()).isEqualTo(callers);
  }

  @Test
  void thoseThatNeverLeaveAreServedInOrderOnceTheOverloadEnds() {
    revision.pods(OneRevision.A);
    come(200, patience("1 s"), ofSeconds(5));
    callers.clear();
    var impatient = patience("1 s");
    for (int i = 0; i < 20; i++) {
      come(1, () -> FOR_EVER, ofSeconds(1));
      come(200, impatient, ofSeconds(1));
    }

    revision.loop.advance(ofSeconds(30));

    assertThat(callers).allMatch(caller -> caller.isServed() || caller.left);
    assertThat(revision.view().queued()).isZero();
  }
}
