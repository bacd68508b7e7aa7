package dev.activator.start;

import dev.activator.cluster.Cluster;
import dev.activator.cluster.ClusterUnavailableException;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.config.LoggingConfig;
import dev.activator.config.NetworkConfig;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.Parsed;
import dev.activator.config.TemplateSyntax;
import dev.activator.properties.ClusterProperties;
import dev.activator.properties.ConfigMapProperties;
import dev.activator.properties.IdentityProperties;
import dev.activator.properties.KnownProperties;
import dev.activator.properties.PortProperties;
import dev.activator.properties.SettingOrigins;
import java.io.PrintStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Says what would hold if the process were started so, and where each value is from, without opening
 * a port. In a cluster it lists what it would list, and reads the ConfigMaps.
 */
public final class DryRun {
  private static final Logger log = LoggerFactory.getLogger(DryRun.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Pattern SECRET = Pattern
      .compile("(?i).*(password|secret|token|credential).*");
  private static final Pattern USER_IN_URL = Pattern.compile("(?<=://)[^/@\\s]+@");

  private final ConfigurableApplicationContext context;
  private final PrintStream out;

  private DryRun(ConfigurableApplicationContext context, PrintStream out) {
    this.context = context;
    this.out = out;
  }

  /** All that is bound and checked at a start, and nothing else. */
  @ConfigurationPropertiesScan(basePackageClasses = PortProperties.class)
  private static final class Properties {}

  /** Prints it, and returns the exit code: 0 if it could start so. */
  public static int of(CommandLine command, Mode mode) {
    var application = new SpringApplication(Properties.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setAdditionalProfiles(mode.profile());
    application.setLogStartupInfo(false);
    try (var context = application.run(command.properties().toArray(String[]::new))) {
      return new DryRun(context, System.out).run(mode);
    }
  }

  private int run(Mode mode) {
    print("mode", mode.profile(), "see ACTIVATOR_MODE, KUBECONFIG, KUBERNETES_SERVICE_HOST");
    var origins = new SettingOrigins(context.getEnvironment());
    KnownProperties.all().forEach(property -> {
      var setting = origins.of(property.name(), property.defaultValue());
      print(property.name(), setting.value(), setting.source());
    });
    return mode == Mode.CLUSTER ? configMaps() : 0;
  }

  private int configMaps() {
    try {
      return describe(read());
    } catch (ClusterUnavailableException unusable) {
      log.error("Cannot start: {}", unusable.getMessage());
      return 1;
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }

  private Map<String, Map<String, String>> read() throws InterruptedException {
    var properties = context.getBean(ClusterProperties.class);
    var names = context.getBean(ConfigMapProperties.class);
    var found = new LinkedHashMap<String, Map<String, String>>();
    try (var cluster = new Cluster(properties::access,
        KubernetesVersion.parse(properties.minVersion()), PATIENCE,
        properties.reflectorSettings(), new Random(0))) {
      for (var name : new String[]{NetworkConfig.NAME, names.logging(), names.observability()}) {
        cluster.onConfigMap(context.getBean(IdentityProperties.class).systemNamespace(), name,
            data -> found.put(name, data));
      }
      cluster.start();
    }
    return found;
  }

  private int describe(Map<String, Map<String, String>> maps) {
    var names = context.getBean(ConfigMapProperties.class);
    maps.forEach((name, data) -> data.entrySet().stream().sorted(Map.Entry.comparingByKey())
        .forEach(entry -> print(entry.getKey(), entry.getValue(), "ConfigMap " + name)));
    return check(NetworkConfig.NAME,
        NetworkConfig.parse(maps.getOrDefault(NetworkConfig.NAME, Map.of()),
            TemplateSyntax::problem))
        | check(names.logging(),
            LoggingConfig.parse(maps.getOrDefault(names.logging(), Map.of())))
        | check(names.observability(), ObservabilityConfig.parse(
            maps.getOrDefault(names.observability(), Map.of()), TemplateSyntax::problem));
  }

  private static int check(String name, Parsed<?> parsed) {
    if (parsed instanceof Parsed.Invalid<?> invalid) {
      log.error("Cannot start: the ConfigMap {}: {}", name, invalid.line());
      return 1;
    }
    return 0;
  }

  private void print(String name, String value, String source) {
    out.println(name + ": " + hide(name, value) + "  # " + source);
  }

  /** What must not be seen on a terminal that others look at. */
  public static String hide(String name, String value) {
    if (SECRET.matcher(name).matches() && !value.isEmpty()) {
      return "******";
    }
    var line = value.strip().replaceAll("\\R", "\\\\n");
    return USER_IN_URL.matcher(line).replaceAll("******@");
  }
}
