package dev.activator.meters;

import com.sun.management.OperatingSystemMXBean;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Mends meters of libraries that {@code promtool check metrics} objects to: times are in seconds,
 * and each meter has a unit and a description. Names that dashboards for the JVM use stay.
 */
public final class LibraryMeterNames implements MeterFilter {
  /** Micrometer's are in nanoseconds and milliseconds. */
  private static final Set<String> REPLACED = Set.of("process.cpu.time", "jvm.compilation.time");
  private static final Map<String, Text> TEXTS = Map.of(
      "netty.allocator.memory.used",
      new Text(BaseUnits.BYTES, "Memory of Netty's allocator, by type."),
      "netty.eventexecutor.tasks.pending",
      new Text(null, "Tasks that wait for an event loop."));

  private static final String SECONDS = "seconds";

  private record Text(@Nullable String unit, String description) {}

  @Override
  public MeterFilterReply accept(Meter.Id id) {
    return REPLACED.contains(id.getName()) ? MeterFilterReply.DENY : MeterFilterReply.NEUTRAL;
  }

  @Override
  public Meter.Id map(Meter.Id id) {
    var text = TEXTS.get(id.getName());
    return text == null
        ? id
        : new Meter.Id(id.getName(), Tags.of(id.getTagsAsIterable()),
            text.unit, text.description, id.getType());
  }

  /** Registers what replaces the meters that are left out. */
  public static void bindTimes(MeterRegistry registry) {
    var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    FunctionCounter
        .builder("process.cpu", system,
            bean -> seconds(TimeUnit.NANOSECONDS, bean.getProcessCpuTime()))
        .baseUnit(SECONDS).description("CPU time of this process.").register(registry);
    var compiler = ManagementFactory.getPlatformMXBean(CompilationMXBean.class);
    if (compiler != null && compiler.isCompilationTimeMonitoringSupported()) {
      FunctionCounter
          .builder("jvm.compilation", compiler,
              bean -> seconds(TimeUnit.MILLISECONDS, bean.getTotalCompilationTime()))
          .baseUnit(SECONDS).description("Time that the JVM spent in compilation.")
          .register(registry);
    }
  }

  private static double seconds(TimeUnit unit, long time) {
    return unit.toNanos(time) / 1e9;
  }
}
