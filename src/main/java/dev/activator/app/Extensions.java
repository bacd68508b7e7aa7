package dev.activator.app;

import dev.activator.ext.console.ConsoleConfiguration;
import dev.activator.ext.actuators.ActuatorsConfiguration;
import dev.activator.ext.admit.AdmitConfiguration;
import dev.activator.ext.affinity.AffinityConfiguration;
import dev.activator.ext.asleep.AsleepConfiguration;
import dev.activator.ext.autoscalerfallback.AutoscalerFallbackConfiguration;
import dev.activator.ext.coldstarts.ColdStartsConfiguration;
import dev.activator.ext.lending.LendingConfiguration;
import dev.activator.ext.otel.OtelConfiguration;
import dev.activator.ext.picker.PickerConfiguration;
import dev.activator.ext.podstarts.PodStartsConfiguration;
import dev.activator.ext.profiling.ProfilingConfiguration;
import dev.activator.ext.requestlog.RequestLogConfiguration;
import dev.activator.ext.rules.RulesConfiguration;
import dev.activator.ext.tcp.TcpConfiguration;
import dev.activator.ext.waitingpage.WaitingPageConfiguration;
import dev.activator.ext.wakewith.WakeWithConfiguration;
import dev.activator.ext.warmup.WarmUpConfiguration;
import dev.activator.lifecycle.Extension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/**
 * The extensions of this build. To leave one out, delete its line; to delete it, delete its folder in
 * {@code dev.activator.ext}, too.
 */
public final class Extensions {
  /** Their configurations, in the order in which they are attached and start. */
  public static final List<Class<?>> ALL = all();

  private Extensions() {}

  private static List<Class<?>> all() {
    var all = new ArrayList<Class<?>>();
    // Determines how long a request waited for a pod, before other observers read that.
    all.add(ColdStartsConfiguration.class);
    // The console and profiles show how a start goes, so they start first.
    all.add(ConsoleConfiguration.class);
    all.add(ProfilingConfiguration.class);
    all.add(RequestLogConfiguration.class);
    all.add(OtelConfiguration.class);
    all.add(PodStartsConfiguration.class);
    all.add(WakeWithConfiguration.class);
    all.add(ActuatorsConfiguration.class);
    all.add(AsleepConfiguration.class);
    all.add(AutoscalerFallbackConfiguration.class);
    all.add(AffinityConfiguration.class);
    all.add(LendingConfiguration.class);
    // A waiting page goes before a fallback.
    all.add(WaitingPageConfiguration.class);
    all.add(RulesConfiguration.class);
    all.add(AdmitConfiguration.class);
    all.add(PickerConfiguration.class);
    all.add(TcpConfiguration.class);
    // Its requests end before the ports open.
    all.add(WarmUpConfiguration.class);
    return List.copyOf(all);
  }

  /** The records of settings of all extensions. */
  static List<Class<?>> settings() {
    return ALL.stream().map(type -> type.getAnnotation(EnableConfigurationProperties.class))
        .filter(settings -> settings != null).flatMap(settings -> Arrays.stream(settings.value()))
        .toList();
  }

  /** Sorts extensions as they are listed here, whatever the order in which Spring made them. */
  static List<Extension> inOrder(Collection<Extension> extensions) {
    var names = ALL.stream().map(Extensions::name).toList();
    return extensions.stream()
        .sorted(Comparator.comparing(extension -> names.indexOf(extension.name()))).toList();
  }

  /** Sorts what extensions attach to one seam in the order of the extensions. */
  static <T> List<T> sorted(Stream<T> attached) {
    var names = ALL.stream().map(Extensions::name).toList();
    return attached.sorted(Comparator.comparing(one -> names.indexOf(name(one.getClass()))))
        .toList();
  }

  /** The name of an extension: that of its folder. */
  public static String name(Class<?> configuration) {
    var folder = configuration.getPackageName();
    return folder.substring(folder.lastIndexOf('.') + 1);
  }
}
