package dev.activator.app;

import dev.activator.revision.LiveRevisions;
import dev.activator.settings.ClusterProperties;
import dev.activator.settings.ClusterProperties.AddressProperties;
import dev.activator.settings.ClusterProperties.ConfigMapProperties;
import dev.activator.settings.OutboundProxyProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.StandaloneProperties;
import dev.activator.discovery.RevisionSource;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.config.ActivatorMode;
import dev.activator.config.CommandLine;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.LoggingConfig;
import dev.activator.config.NetworkConfig;
import dev.activator.config.ObservabilityConfig;
import dev.activator.lifecycle.StartupFailedException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.AotDetector;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.SpringProperties;

/**
 * Implements the command line option --dry-run. It prints every effective setting with its origin,
 * and checks all of them, and that the ports are free. In a cluster it lists the same objects as an
 * activator, and reads the ConfigMaps. Unknown settings come last.
 */
public final class SettingsDryRun {
  private static final Logger log = LoggerFactory.getLogger(SettingsDryRun.class);
  private static final Duration START_TIMEOUT = Duration.ofSeconds(5);
  private static final Pattern SECRET = Pattern
      .compile("(?i).*(password|secret|token|credential).*");
  private static final Pattern USER_IN_URL = Pattern.compile("(?<=://|^)[^/\\s]+@");

  private final ConfigurableApplicationContext context;
  private final BiFunction<IdentityProperties, StandaloneProperties, RevisionSource> standalone;
  private final PrintStream out;

  private SettingsDryRun(ConfigurableApplicationContext context,
      BiFunction<IdentityProperties, StandaloneProperties, RevisionSource> standalone,
      PrintStream out) {
    this.context = context;
    this.standalone = standalone;
    this.out = out;
  }

  /** A configuration that only binds and checks properties. */
  @ConfigurationPropertiesScan({"dev.activator.settings", "dev.activator.ext"})
  private static final class Properties {}

  /**
   * Returns the exit code: 0 if the process could start with these settings.
   *
   * @param standalone makes the source of revisions of stand-alone mode
   */
  public static int of(CommandLine command, ActivatorMode mode,
      BiFunction<IdentityProperties, StandaloneProperties, RevisionSource> standalone) {
    // Disabled, because the jar's AOT wiring would create all beans.
    SpringProperties.setProperty(AotDetector.AOT_ENABLED, "false");
    var application = new SpringApplication(Properties.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setAdditionalProfiles(mode.profile());
    application.setLogStartupInfo(false);
    var warnings = new ArrayList<String>();
    var settings = new SettingsCheck(warnings::add);
    application.addInitializers(settings);
    // Binds all properties before run() returns, so that Boot reports an invalid value.
    var arguments = Stream.concat(command.properties().stream(),
        Stream.of("--spring.main.lazy-initialization=false"));
    try (var context = application.run(arguments.toArray(String[]::new))) {
      var run = new SettingsDryRun(context, standalone, System.out);
      int code = run.describe(mode) == 0 ? run.checkHost(settings) : 1;
      warnings.forEach(sentence -> run.out.println("# " + sentence));
      return code;
    }
  }

  private int describe(ActivatorMode mode) {
    print("mode", mode.word(), "see ACTIVATOR_MODE, KUBECONFIG, KUBERNETES_SERVICE_HOST");
    EffectiveProperties.of(context.getBeansWithAnnotation(ConfigurationProperties.class).values())
        .forEach((name, value) -> print(name, value,
            EffectiveProperties.setting(context.getEnvironment(), name).source()));
    return mode == ActivatorMode.EMBEDDED ? 0 : configMaps(mode);
  }

  private int checkHost(SettingsCheck settings) {
    try {
      new HostCheck(settings).initialize(context);
      return 0;
    } catch (StartupFailedException e) {
      return cannotStart(e);
    }
  }

  private static int cannotStart(Exception reason) {
    log.error("Cannot start: {}", reason.getMessage());
    return 1;
  }

  private int configMaps(ActivatorMode mode) {
    var names = context.getBean(ConfigMapProperties.class);
    List<ConfigMapSettings<?>> maps = List.of(NetworkConfig.live(),
        LoggingConfig.live(names.logging()),
        ObservabilityConfig.live(names.observability()));
    try {
      var configured = read(maps, mode);
      return maps.stream()
          .mapToInt(map -> describe(map, configured.getOrDefault(map.name(), Set.of()))).max()
          .orElse(0);
    } catch (ClusterUnavailableException e) {
      return cannotStart(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }

  private Map<String, Set<String>> read(List<ConfigMapSettings<?>> maps, ActivatorMode mode)
      throws InterruptedException {
    var properties = context.getBean(ClusterProperties.class);
    var outboundProxy = context.getBean(OutboundProxyProperties.class);
    var identity = context.getBean(IdentityProperties.class);
    var addresses = context.getBean(AddressProperties.class);
    var configured = new ConcurrentHashMap<String, Set<String>>();
    try (var cluster = properties.cluster(new LiveRevisions(_ -> {
      throw new IllegalStateException("a dry run follows no revisions");
    }),
        () -> new ClusterAccess.Through(properties.access(), outboundProxy.proxies()),
        START_TIMEOUT,
        new Random(0), addresses, identity)) {
      if (mode == ActivatorMode.STANDALONE) {
        cluster.leaveOutKnative();
        cluster.setSource(standalone.apply(identity, context.getBean(StandaloneProperties.class)));
      }
      maps.forEach(map -> cluster.onConfigMap(identity.systemNamespace(), map.name(), data -> {
        configured.put(map.name(), data.keySet());
        map.delivered(data);
      }));
      cluster.start();
    }
    return configured;
  }

  private int describe(ConfigMapSettings<?> map, Set<String> configured) {
    try {
      map.begin();
    } catch (IllegalStateException e) {
      return cannotStart(e);
    }
    map.get().entries().forEach((key, value) -> print(key, value,
        configured.contains(key) ? "ConfigMap " + map.name() : "default"));
    return 0;
  }

  private void print(String name, String value, String source) {
    out.println(name + ": " + hide(name, value) + "  # " + source);
  }

  static String hide(String name, String value) {
    if (SECRET.matcher(name).matches() && !value.isEmpty()) {
      return "******";
    }
    var line = value.strip().replaceAll("\\R", "\\\\n");
    return USER_IN_URL.matcher(line).replaceAll("******@");
  }
}
