package dev.activator.meters;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.binder.jvm.JvmCompilationMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyEventExecutorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import org.junit.jupiter.api.Test;

class LibraryMeterNamesTest {
  @Test
  void metersOfLibrariesHaveHelpAndBaseUnits() {
    var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    registry.config().meterFilter(new LibraryMeterNames());
    LibraryMeterNames.bindTimes(registry);
    var group = new DefaultEventExecutorGroup(1);
    try {
      new NettyAllocatorMetrics((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT)
          .bindTo(registry);
      new NettyEventExecutorMetrics(group).bindTo(registry);
      new ProcessorMetrics().bindTo(registry);
      new JvmCompilationMetrics().bindTo(registry);

      assertThat(registry.scrape().lines().filter(line -> line.startsWith("# HELP")))
          .allMatch(line -> line.split(" ", 4)[3].matches("\\S.*"))
          .map(line -> line.split(" ", 4)[2])
          .contains("netty_allocator_memory_used_bytes", "netty_eventexecutor_tasks_pending",
              "process_cpu_seconds_total", "jvm_compilation_seconds_total", "process_cpu_usage")
          .noneMatch(name -> name.matches(".*_(ms|ns)(_.*)?"));
    } finally {
      group.shutdownGracefully();
    }
  }
}
