package dev.activator.console;

import com.sun.management.OperatingSystemMXBean;
import dev.activator.lending.link.ActivatorLoad;
import dev.activator.lending.link.ActivatorLoad.Busy;
import dev.activator.lending.link.ActivatorLoad.Requests;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.Throttler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Supplies the load and state of this activator, for the console and for peers that request them.
 *
 * <p><b>Threads.</b> Any.
 */
public final class OwnLoad implements Supplier<ActivatorLoad> {
  private static final double NANOS = 1e9;

  private final String version;
  private final Supplier<List<ThrottleView>> views;
  private final MinuteHistory requestHistory;
  private final RevisionHourHistory hours;
  private final DoubleSupplier saturation;
  private final BooleanSupplier draining;
  private final OperatingSystemMXBean system = ManagementFactory
      .getPlatformMXBean(OperatingSystemMXBean.class);
  private final LongSupplier nanoTime;
  private long readNanos;
  private long cpuNanos = system.getProcessCpuTime();
  private double processors;

  /** @param version may be empty */
  public OwnLoad(String version, Throttler throttler, MinuteHistory requestHistory,
      RevisionHourHistory hours,
      DoubleSupplier saturation, BooleanSupplier draining, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.readNanos = nanoTime.getAsLong();
    this.version = version;
    this.views = throttler::views;
    this.requestHistory = requestHistory;
    this.hours = hours;
    this.saturation = saturation;
    this.draining = draining;
  }

  @Override
  public ActivatorLoad get() {
    return of(views.get());
  }

  /** @param all the throttlers of all revisions */
  ActivatorLoad of(List<ThrottleView> all) {
    var runtime = Runtime.getRuntime();
    var rates = requestHistory.rates();
    return new ActivatorLoad(version,
        Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime()),
        new ActivatorLoad.Processors(processors(), runtime.availableProcessors()),
        new ActivatorLoad.Memory(runtime.totalMemory() - runtime.freeMemory(),
            runtime.maxMemory()),
        saturation.getAsDouble(),
        all.stream().map(view -> requests(view, rates)).reduce(Requests.NONE, Requests::plus),
        hours.errors(),
        busy(all, rates), draining.getAsBoolean());
  }

  private static List<Busy> busy(List<ThrottleView> all, Map<RevisionId, Double> rates) {
    return all.stream().map(view -> new Busy(view.revision(), requests(view, rates),
        view.queued() > 0 && view.capacity() == 0))
        .filter(busy -> busy.requests().perSecond() > 0 || busy.requests().inFlight() > 0
            || busy.requests().queued() > 0)
        .sorted(Comparator.comparingInt((Busy busy) -> busy.requests().queued())
            .thenComparing(busy -> busy.requests().inFlight()).reversed())
        .limit(ActivatorLoad.MAX_BUSY).toList();
  }

  private static Requests requests(ThrottleView view, Map<RevisionId, Double> rates) {
    return new Requests(rates.getOrDefault(view.revision(), 0.0), view.inFlight(), view.queued(),
        view.oldestWait());
  }

  /**
   * The used processors since the last call, or over a longer time if the last call was very
   * recent.
   */
  private synchronized double processors() {
    long now = nanoTime.getAsLong();
    long cpu = system.getProcessCpuTime();
    if (now - readNanos > NANOS / 2) {
      processors = (double) (cpu - cpuNanos) / (now - readNanos);
      readNanos = now;
      cpuNanos = cpu;
    }
    return processors;
  }
}
