package dev.activator.app;

import dev.activator.lifecycle.StartupFailedException;
import dev.activator.settings.CallerTlsProperties;
import dev.activator.settings.EmbeddedProperties;
import dev.activator.settings.ListeningPort;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.settings.ProxyServerProperties.PortProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.settings.StandaloneProperties;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Profiles;
import org.springframework.util.ClassUtils;

/**
 * Checks settings before a start. Finds unknown settings, and ports that two servers would share.
 */
public final class SettingsCheck
    implements ApplicationContextInitializer<ConfigurableApplicationContext> {
  /** A setting that is not supported, because the servers are decided when the jar is built. */
  private static final String SECOND_SERVER = "management.server.port";
  private static final String TCP_PORTS = "activator.standalone.tcp-ports";

  private final Consumer<String> onWarning;
  private @Nullable Settings settings;

  public SettingsCheck(Consumer<String> onWarning) {
    this.onWarning = onWarning;
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
    settings = new Settings(environment);
    checkPorts(environment, settings);
  }

  /** Binds all records for their beans. Call after all other checks, which name more than one at a time. */
  public void register(ConfigurableApplicationContext context) {
    settings().registerIn(context.getBeanFactory());
  }

  /** The settings that were checked. */
  Settings settings() {
    return Objects.requireNonNull(settings);
  }

  /** Binds each record of settings once, for these checks and for its bean. */
  static final class Settings {
    private static final String OURS = "-dev.activator.";

    private final Binder binder;
    private final Map<Class<?>, Object> bound = new HashMap<>();

    Settings(ConfigurableEnvironment environment) {
      binder = Binder.get(environment);
    }

    <T> T of(Class<T> type) {
      return type.cast(bound.computeIfAbsent(type, this::bind));
    }

    private Object bind(Class<?> type) {
      var prefix = type.getAnnotation(ConfigurationProperties.class).value();
      // If there is a Service "activator", the kubelet sets ACTIVATOR_PORT to a URL, which cannot be
      // bound to a record.
      Object value = binder.bindOrCreate(prefix, Bindable.of(type),
          new IgnoreTopLevelConverterNotFoundBindHandler());
      return value == null ? new Binder().bindOrCreate(prefix, Bindable.of(type)) : value;
    }

    /**
     * Registers the records as beans, so that Boot does not search for annotations and bind them
     * again. At this point only the packaged jar has bean definitions; without them, Boot binds the
     * records itself.
     */
    void registerIn(ConfigurableListableBeanFactory beans) {
      for (var name : beans.getBeanDefinitionNames()) {
        if (name.contains(OURS)) {
          var type = ClassUtils.resolveClassName(name.substring(name.indexOf(OURS) + 1),
              beans.getBeanClassLoader());
          beans.registerSingleton(name, of(type));
        }
      }
    }
  }

  private static boolean isEmbedded(ConfigurableEnvironment environment) {
    return environment.acceptsProfiles(Profiles.of("embedded"));
  }

  /** @throws StartupFailedException that names both settings as they were set */
  static void checkPorts(ConfigurableEnvironment environment, Settings settings) {
    var listeners = listeners(environment, settings);
    var range = settings.of(StandaloneProperties.class).tcpRange();
    var address = settings.of(ProxyServerProperties.class).bindAddress();
    for (int i = 0; i < listeners.size(); i++) {
      var one = listeners.get(i);
      for (var other : listeners.subList(i + 1, listeners.size())) {
        if (one.conflictsWith(other)) {
          throw shared(name(environment, one.property()) + " and "
              + name(environment, other.property()) + " are both " + one.port());
        }
      }
      if (range.has(one.port())
          && one.conflictsWith(new ListeningPort(TCP_PORTS, address, one.port()))) {
        throw shared(name(environment, one.property()) + " is one of "
            + name(environment, TCP_PORTS) + ", " + range);
      }
    }
  }

  private static String name(ConfigurableEnvironment environment, String property) {
    return EffectiveProperties.setting(environment, property).name();
  }

  private static StartupFailedException shared(String what) {
    return new StartupFailedException(what + ", but two servers cannot share a port");
  }

  static List<ListeningPort> listeners(ConfigurableEnvironment environment,
      Settings settings) {
    var all = new ArrayList<ListeningPort>();
    var ports = settings.of(PortProperties.class);
    var address = settings.of(ProxyServerProperties.class).bindAddress();
    all.add(new ListeningPort("activator.port.http1", address, ports.http1()));
    all.add(new ListeningPort("activator.port.h2c", address, ports.h2c()));
    if (settings.of(CallerTlsProperties.class).certificate() != null) {
      all.add(new ListeningPort("activator.port.https", address, ports.https()));
    }
    boolean isEmbedded = isEmbedded(environment);
    all.add(new ListeningPort("server.port",
        environment.getProperty("server.address",
            settings.of(MetricsServerProperties.class).host()),
        environment.getProperty("server.port", Integer.class, 0)));
    var others = new ListeningPort.Others(address,
        environment.getProperty("server.port", Integer.class, 0), isEmbedded);
    all.addAll(ports(settings.of(StandaloneProperties.class), others));
    for (var record : Extensions.settings()) {
      if (settings.of(record) instanceof ListeningPort.Source opened) {
        all.addAll(ports(opened, others));
      }
    }
    if (isEmbedded) {
      var embedded = settings.of(EmbeddedProperties.class);
      all.add(new ListeningPort("activator.embedded.api-port", ListeningPort.LOOPBACK,
          embedded.apiPort()));
      all.add(
          new ListeningPort("activator.embedded.autoscaler-port", ListeningPort.LOOPBACK,
              embedded.autoscalerPort()));
    }
    return all;
  }

  /** @throws StartupFailedException if the settings of an extension do not fit the others */
  private static List<ListeningPort> ports(ListeningPort.Source of, ListeningPort.Others others) {
    try {
      return of.ports(others);
    } catch (IllegalArgumentException e) {
      throw new StartupFailedException(Objects.requireNonNull(e.getMessage()));
    }
  }
}
