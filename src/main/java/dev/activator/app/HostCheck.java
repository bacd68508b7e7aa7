package dev.activator.app;

import dev.activator.app.SettingsCheck.Settings;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.config.ActivatorMode;
import dev.activator.lifecycle.ListeningPortFinder;
import dev.activator.lifecycle.StartupFailedException;
import dev.activator.management.MetricsServer;
import dev.activator.settings.CallerTlsProperties;
import dev.activator.settings.ClusterProperties;
import dev.activator.settings.ListeningPort;
import dev.activator.settings.MetricsServerProperties;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.stream.Collectors;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Profiles;

/**
 * Checks, before anything is created, what a start needs of this machine: a kubeconfig,
 * certificates and free ports.
 *
 * <p><b>Errors.</b> {@link StartupFailedException} that names the settings.
 */
public final class HostCheck
    implements ApplicationContextInitializer<ConfigurableApplicationContext> {
  private static final int MAX_COMMAND_LENGTH = 80;

  private final SettingsCheck checked;

  /** @param checked has checked the settings before */
  public HostCheck(SettingsCheck checked) {
    this.checked = checked;
  }

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    var environment = context.getEnvironment();
    if (environment.getProperty("spring.aot.processing", Boolean.class, false)) {
      // The jar's wiring is being generated, maybe beside an activator that runs.
      return;
    }
    var settings = checked.settings();
    if (environment.acceptsProfiles(Profiles.of(ActivatorMode.CLUSTER.profile()))) {
      checkKubeconfig(settings);
    }
    checkCertificates(environment, settings);
    checkPorts(environment, settings);
  }

  private static void checkKubeconfig(Settings settings) {
    try {
      settings.of(ClusterProperties.class).access().check();
    } catch (ClusterUnavailableException e) {
      throw new StartupFailedException(String.valueOf(e.getMessage()));
    }
  }

  private static void checkCertificates(ConfigurableEnvironment environment, Settings settings) {
    var metrics = settings.of(MetricsServerProperties.class);
    if (metrics.isEncrypted()) {
      var _ = MetricsServer.tls(metrics);
    }
    var tls = settings.of(CallerTlsProperties.class);
    try {
      if (tls.certificate() != null) {
        var _ = tls.read();
      }
    } catch (IOException e) {
      throw new StartupFailedException(named(environment, "activator.tls.certificate") + ", "
          + named(environment, "activator.tls.key") + ": " + e.getMessage());
    }
  }

  private static String named(ConfigurableEnvironment environment, String property) {
    var setting = EffectiveProperties.setting(environment, property);
    return setting.name() + " is '" + setting.value() + "'";
  }

  private static void checkPorts(ConfigurableEnvironment environment, Settings settings) {
    var taken = SettingsCheck.listeners(environment, settings).stream()
        .map(port -> problem(environment, port)).filter(problem -> !problem.isEmpty())
        .collect(Collectors.joining("; "));
    if (!taken.isEmpty()) {
      throw new StartupFailedException("cannot listen: " + taken
          + ". End what has the port, or set another one, 0 for any free one");
    }
  }

  /** Why a port cannot be opened; empty if it can. */
  private static String problem(ConfigurableEnvironment environment, ListeningPort port) {
    var address = port.address().isEmpty()
        ? new InetSocketAddress(port.port())
        : new InetSocketAddress(port.address(), port.port());
    try (var socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
      return "";
    } catch (IOException e) {
      return EffectiveProperties.setting(environment, port.property()).name() + " is " + port.port()
          + ": " + e.getMessage() + ListeningPortFinder.owner(port.port())
              .map(HostCheck::described).orElse("");
    }
  }

  private static String described(ProcessHandle owner) {
    var command = owner.info().commandLine().orElse("");
    return " by process " + owner.pid() + " (" + (command.length() > MAX_COMMAND_LENGTH
        ? command.substring(0, MAX_COMMAND_LENGTH) + "…"
        : command) + ")";
  }
}
