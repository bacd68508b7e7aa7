package dev.activator.app;

import dev.activator.app.properties.GatewayAdmitProperties;
import dev.activator.app.properties.ConsoleProperties;
import dev.activator.app.properties.ConsoleProperties.Auth;
import dev.activator.app.properties.EffectiveSettings;
import dev.activator.app.properties.EmbeddedProperties;
import dev.activator.app.properties.LendingProperties.Mode;
import dev.activator.app.properties.LendingProperties;
import dev.activator.app.properties.MetricsServerProperties;
import dev.activator.app.properties.MetricsServerProperties.ProfilingProperties;
import dev.activator.app.properties.ProxyServerProperties;
import dev.activator.app.properties.ProxyServerProperties.PortProperties;
import dev.activator.app.properties.CallerTlsProperties;
import dev.activator.lifecycle.StartupFailedException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Profiles;

/**
 * Checks settings before a start. Finds unknown settings, and ports that two servers would share.
 */
public final class SettingsCheck
    implements ApplicationContextInitializer<ConfigurableApplicationContext> {
  /** A setting that is not supported, because the servers are decided when the jar is built. */
  private static final String SECOND_SERVER = "management.server.port";
  private static final String ALL_INTERFACES = "";
  private static final String LOOPBACK = "127.0.0.1";

  private final Consumer<String> onWarning;

  public SettingsCheck(Consumer<String> onWarning) {
    this.onWarning = onWarning;
  }

  private record ListeningPort(String property, String address, int port) {
    ListeningPort {
      address = normalized(address);
    }

    boolean conflictsWith(ListeningPort other) {
      return port != 0 && port == other.port && (address.equals(other.address)
          || address.equals(ALL_INTERFACES) || other.address.equals(ALL_INTERFACES));
    }
  }

  private static String normalized(String address) {
    if (address.equalsIgnoreCase("localhost")) {
      return LOOPBACK;
    }
    try {
      var literal = InetAddress.ofLiteral(address);
      return literal.isAnyLocalAddress() ? ALL_INTERFACES : literal.getHostAddress();
    } catch (IllegalArgumentException e) {
      return address;
    }
  }

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    var environment = context.getEnvironment();
    UnknownSettings.in(environment).forEach(onWarning);
    if (environment.containsProperty(SECOND_SERVER)) {
      throw new StartupFailedException(
          SECOND_SERVER + " cannot be set: health and metrics are on "
              + "activator.metrics-server.port, or METRICS_PROMETHEUS_PORT");
    }
    checkPorts(environment);
    checkConsole(environment);
  }

  /** @throws StartupFailedException if tokens are required and cannot be checked */
  private static void checkConsole(ConfigurableEnvironment environment) {
    if (isEmbedded(environment)
        && bound(Binder.get(environment), ConsoleProperties.class).auth() == Auth.TOKEN) {
      throw new StartupFailedException(
          "activator.console.auth is token, but embedded mode has no tokens: its ports are for this machine only");
    }
  }

  private static boolean isEmbedded(ConfigurableEnvironment environment) {
    return environment.acceptsProfiles(Profiles.of("embedded"));
  }

  /** @throws StartupFailedException that names both settings as they were set */
  static void checkPorts(ConfigurableEnvironment environment) {
    var listeners = listeners(environment);
    for (int i = 0; i < listeners.size(); i++) {
      for (var other : listeners.subList(i + 1, listeners.size())) {
        var one = listeners.get(i);
        if (one.conflictsWith(other)) {
          throw new StartupFailedException(
              EffectiveSettings.setting(environment, one.property).name() + " and "
                  + EffectiveSettings.setting(environment, other.property).name() + " are both "
                  + one.port
                  + ", but two servers cannot share a port");
        }
      }
    }
  }

  private static List<ListeningPort> listeners(ConfigurableEnvironment environment) {
    var all = new ArrayList<ListeningPort>();
    var binder = Binder.get(environment);
    var ports = bound(binder, PortProperties.class);
    var address = bound(binder, ProxyServerProperties.class).bindAddress();
    all.add(new ListeningPort("activator.port.http1", address, ports.http1()));
    all.add(new ListeningPort("activator.port.h2c", address, ports.h2c()));
    if (bound(binder, CallerTlsProperties.class).certificate() != null) {
      all.add(new ListeningPort("activator.port.https", address, ports.https()));
    }
    var lending = bound(binder, LendingProperties.class);
    boolean isEmbedded = isEmbedded(environment);
    if (lending.mode() != Mode.OFF && !isEmbedded) {
      all.add(new ListeningPort("activator.lending.port", address, lending.port()));
    }
    var admit = bound(binder, GatewayAdmitProperties.class);
    if (admit.enabled()) {
      all.add(new ListeningPort("activator.admit.port", address, admit.port()));
    }
    all.add(new ListeningPort("server.port",
        environment.getProperty("server.address",
            bound(binder, MetricsServerProperties.class).host()),
        environment.getProperty("server.port", Integer.class, 0)));
    var console = bound(binder, ConsoleProperties.class);
    if (console.port() != null
        && !console.shares(environment.getProperty("server.port", Integer.class, 0))) {
      all.add(new ListeningPort("activator.console.port", console.bindAddress(), console.port()));
    }
    var profiling = bound(binder, ProfilingProperties.class);
    all.add(
        new ListeningPort("activator.profiling.port", profiling.bindAddress(), profiling.port()));
    if (isEmbedded) {
      var embedded = bound(binder, EmbeddedProperties.class);
      all.add(new ListeningPort("activator.embedded.api-port", LOOPBACK, embedded.apiPort()));
      all.add(
          new ListeningPort("activator.embedded.autoscaler-port", LOOPBACK,
              embedded.autoscalerPort()));
    }
    return all;
  }

  private static <T> T bound(Binder binder, Class<T> record) {
    var prefix = record.getAnnotation(ConfigurationProperties.class).value();
    // If there is a Service "activator", the kubelet sets ACTIVATOR_PORT to a text, which cannot be
    // bound to a record.
    var bound = binder.bindOrCreate(prefix, Bindable.of(record),
        new IgnoreTopLevelConverterNotFoundBindHandler());
    return bound == null ? new Binder().bindOrCreate(prefix, record) : bound;
  }
}
