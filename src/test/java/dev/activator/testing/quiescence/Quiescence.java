package dev.activator.testing.quiescence;

import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.testing.CountedLoops;
import dev.activator.testing.FakeThrottle;
import dev.activator.testing.SteppedLoop;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.Throttler;
import dev.activator.upstream.ConnectionPoolsByLoop;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that leaves anything behind: when it is over, every gauge of what it has handed to
 * {@link #watch} is zero, and when its class is over, every request is garbage. JUnit applies this to
 * every class.
 *
 * <p><b>Threads.</b> Several classes run at once; what is watched belongs to the thread of its test.
 */
public final class Quiescence implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  /** In real time; only a failure or a starved machine takes it. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final List<Duration> VIRTUAL_STEPS = List.of(Duration.ZERO, Duration.ofSeconds(1),
      Duration.ofSeconds(10), Duration.ofMinutes(2), Duration.ofMinutes(10));

  /** What the tests of a class have started. */
  private static final class Started {
    private final List<Object> watched = new ArrayList<>();
    private final List<Ending> endings = new ArrayList<>();
    private final List<WeakReference<?>> garbage = new ArrayList<>();
  }

  /** Makes the callers of something leave. */
  public interface Ending {
    void run() throws Exception;
  }

  private static final ThreadLocal<Started> STARTED = ThreadLocal.withInitial(Started::new);

  /** Checks the gauges of this, if it has any, when the test is over; moves the time of a loop on for the others. */
  public static <T> T watch(T started) {
    STARTED.get().watched.add(started);
    return started;
  }

  /** @param ending runs when the test is over, before any gauge is read */
  public static <T> T watch(T started, Ending ending) {
    STARTED.get().endings.add(ending);
    return watch(started);
  }

  /** Fails if one of these is still reachable when the class is over. */
  public static void garbage(Collection<? extends WeakReference<?>> objects) {
    STARTED.get().garbage.addAll(objects);
  }

  /** Fails if a gauge of one of these does not become zero. */
  public static void check(Object... started) {
    var left = left(List.of(started));
    if (!left.isEmpty()) {
      throw new AssertionError("the test is over, and this is left: " + left);
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    STARTED.remove();
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    var started = STARTED.get();
    var watched = List.copyOf(started.watched);
    var endings = List.copyOf(started.endings);
    started.watched.clear();
    started.endings.clear();
    // One that has failed may have stopped anywhere.
    if (context.getExecutionException().isEmpty()) {
      for (var ending : endings) {
        ending.run();
      }
      check(watched.toArray());
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    var garbage = STARTED.get().garbage;
    STARTED.remove();
    var kept = kept(garbage, 20);
    if (!kept.isEmpty()) {
      throw new AssertionError("the tests are over, and these are still reachable: " + kept);
    }
  }

  /** Lets time go by until all gauges are zero or it has been long enough; what is not zero. */
  static Map<String, Long> left(Collection<?> started) {
    var gauges = new LinkedHashMap<String, List<LongSupplier>>();
    started.forEach(each -> addGauges(each, gauges));
    long begun = System.nanoTime();
    var steps = VIRTUAL_STEPS.iterator();
    boolean isVirtual = started.stream()
        .anyMatch(each -> each instanceof VirtualLoop || each instanceof SteppedLoop);
    var left = read(gauges);
    while (!left.isEmpty() && System.nanoTime() - begun < PATIENCE.toNanos()) {
      if (isVirtual && steps.hasNext()) {
        var step = steps.next();
        started.forEach(each -> advance(each, step));
      } else if (isVirtual) {
        return left;
      } else {
        pause();
      }
      left = read(gauges);
    }
    return left;
  }

  private static void addGauges(Object started, Map<String, List<LongSupplier>> gauges) {
    switch (started) {
      case HeldRequestBytes held -> add(gauges, "held bytes of requests", held::total);
      case UnreadResponseBytes unread -> add(gauges, "unread bytes of responses", unread::total);
      case ConnectionPoolsByLoop pools -> add(gauges, "connections to pods that are in use",
          () -> pools.openCount() - pools.idleCount());
      case CountedLoops loops -> add(gauges, "bytes of buffers", loops::bufferBytes);
      case Throttler throttler -> {
        add(gauges, "permits", () -> throttler.views().stream().mapToInt(ThrottleView::inFlight)
            .sum());
        add(gauges, "queued requests", () -> throttler.views().stream()
            .mapToInt(ThrottleView::queued).sum());
      }
      case FakeThrottle throttle -> {
        add(gauges, "permits", throttle::inFlight);
        add(gauges, "queued requests", throttle::queued);
      }
      case LongSupplier gauge -> add(gauges, "requests in flight", gauge);
      default -> {
        // It has none.
      }
    }
  }

  private static void add(Map<String, List<LongSupplier>> gauges, String name, LongSupplier gauge) {
    gauges.computeIfAbsent(name, _ -> new ArrayList<>()).add(gauge);
  }

  private static Map<String, Long> read(Map<String, List<LongSupplier>> gauges) {
    var left = new LinkedHashMap<String, Long>();
    gauges.forEach((name, all) -> {
      long sum = all.stream().mapToLong(LongSupplier::getAsLong).map(Math::abs).sum();
      if (sum != 0) {
        left.put(name, sum);
      }
    });
    return left;
  }

  private static void advance(Object started, Duration step) {
    switch (started) {
      case VirtualLoop loop -> loop.advance(step);
      case SteppedLoop loop -> loop.advance(step);
      default -> {
      }
    }
  }

  /** Collects garbage until none of these is left, or it has been tried this often. */
  static List<?> kept(List<WeakReference<?>> objects, int times) {
    List<?> kept = objects.stream().map(WeakReference::get).filter(Objects::nonNull).toList();
    for (int i = 0; i < times && !kept.isEmpty(); i++) {
      kept = List.of();
      System.gc();
      pause();
      kept = objects.stream().map(WeakReference::get).filter(Objects::nonNull).toList();
    }
    return kept;
  }

  private static void pause() {
    try {
      Thread.sleep(5);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
