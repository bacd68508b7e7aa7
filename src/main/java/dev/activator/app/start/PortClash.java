package dev.activator.app.start;

import dev.activator.app.properties.EmbeddedProperties;
import dev.activator.app.properties.MetricsServerProperties;
import dev.activator.app.properties.PortProperties;
import dev.activator.app.properties.ProfilingProperties;
import dev.activator.app.properties.ServingProperties;
import dev.activator.app.properties.SettingOrigins;
import dev.activator.app.properties.TlsProperties;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Profiles;

/** Ports that two are to listen on: known before one of them does, and fails to name the other. */
final class PortClash {
  private static final String ALL_INTERFACES = "";
  private static final String LOOPBACK = "127.0.0.1";
  private static final String LOCAL = "localhost";

  private final ConfigurableEnvironment environment;
  private final Binder binder;
  private final List<Listener> listeners = new ArrayList<>();

  private record Listener(String property, String address, int port) {
    Listener {
      address = written(address);
    }

    boolean isInTheWayOf(Listener other) {
      return port != 0 && port == other.port && (address.equals(other.address)
          || address.equals(ALL_INTERFACES) || other.address.equals(ALL_INTERFACES));
    }
  }

  /** As one writes it: this machine has a name, and its addresses more than one form. */
  private static String written(String address) {
    if (address.equalsIgnoreCase(LOCAL)) {
      return LOOPBACK;
    }
    try {
      var literal = InetAddress.ofLiteral(address);
      return literal.isAnyLocalAddress() ? ALL_INTERFACES : literal.getHostAddress();
    } catch (IllegalArgumentException name) {
      return address;
    }
  }

  private PortClash(ConfigurableEnvironment environment) {
    this.environment = environment;
    this.binder = Binder.get(environment);
  }

  /**
   * Makes sure there is none.
   *
   * @throws InvalidSettingsException naming both settings, in the words of who set them
   */
  static void check(ConfigurableEnvironment environment) {
    var ports = new PortClash(environment);
    ports.collect();
    for (int i = 0; i < ports.listeners.size(); i++) {
      for (var other : ports.listeners.subList(i + 1, ports.listeners.size())) {
        ports.compare(ports.listeners.get(i), other);
      }
    }
  }

  private void collect() {
    var ports = bound(PortProperties.class);
    var serving = bound(ServingProperties.class).bindAddress();
    add("activator.port.http1", serving, ports.http1());
    add("activator.port.h2c", serving, ports.h2c());
    if (bound(TlsProperties.class).certificate() != null) {
      add("activator.port.https", serving, ports.https());
    }
    add("server.port", environment.getProperty("server.address",
        bound(MetricsServerProperties.class).host()),
        environment.getProperty("server.port", Integer.class, 0));
    var profiling = bound(ProfilingProperties.class);
    add("activator.profiling.port", profiling.bindAddress(), profiling.port());
    if (environment.acceptsProfiles(Profiles.of("embedded"))) {
      var embedded = bound(EmbeddedProperties.class);
      add("activator.embedded.api-port", LOOPBACK, embedded.apiPort());
      add("activator.embedded.autoscaler-port", LOOPBACK, embedded.autoscalerPort());
    }
  }

  private <T> T bound(Class<T> record) {
    var prefix = record.getAnnotation(ConfigurationProperties.class);
    // A Service named "activator" makes the kubelet set ACTIVATOR_PORT to a text, which is no record.
    var bound = binder.bindOrCreate(prefix.value(), Bindable.of(record),
        new IgnoreTopLevelConverterNotFoundBindHandler());
    return bound == null ? new Binder().bindOrCreate(prefix.value(), record) : bound;
  }

  private void add(String property, String address, int port) {
    listeners.add(new Listener(property, address, port));
  }

  private void compare(Listener one, Listener other) {
    if (one.isInTheWayOf(other)) {
      var names = new SettingOrigins(environment);
      throw new InvalidSettingsException(names.of(one.property, "").name() + " and "
          + names.of(other.property, "").name() + " are both " + one.port
          + ", but each needs a port of its own");
    }
  }
}
