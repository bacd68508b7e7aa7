package dev.activator;

import dev.activator.app.ActivatorLogging;
import dev.activator.config.CommandLine;
import dev.activator.app.Extensions;
import dev.activator.app.HostCheck;
import dev.activator.app.SettingsDryRun;
import dev.activator.config.ActivatorMode;
import dev.activator.app.SettingsCheck;
import dev.activator.app.UnknownSettings;
import dev.activator.lifecycle.Shutdown;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.StartupFailedException;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.AotDetector;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.SpringProperties;

/** {@code main}: reads the command line, and starts one of the three modes. */
public class ActivatorApplication {
  private static final Logger log = LoggerFactory.getLogger(ActivatorApplication.class);

  public static void main(String[] args) {
    countDirectMemory();
    setUpTls();
    ActivatorLogging.use();
    var information = CommandLine.information(args);
    if (information != null) {
      System.out.println(information);
      return;
    }
    try {
      var command = CommandLine.parse(UnknownSettings::problem, args);
      var mode = ActivatorMode.of(environment(command));
      var configuration = configuration(mode);
      if (command.isDryRun()) {
        System.exit(SettingsDryRun.of(command, mode, StandaloneActivator::services));
      }
      run(command, mode, configuration);
    } catch (IllegalArgumentException e) {
      refuse(new StartupFailedException(String.valueOf(e.getMessage())));
      System.exit(1);
    } catch (RuntimeException e) {
      // Boot has logged the failure.
      System.exit(1);
    }
  }

  /** Logs a failure like those of settings, in the format of the log. */
  private static void refuse(StartupFailedException failure) {
    SpringProperties.setProperty(AotDetector.AOT_ENABLED, "false");
    var application = new SpringApplication(ActivatorApplication.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setLogStartupInfo(false);
    application.setAdditionalProfiles(ActivatorMode.withoutChoice(System.getenv()).profile());
    application.addInitializers(_ -> {
      throw failure;
    });
    try {
      application.run();
    } catch (StartupFailedException e) {
      // Boot has logged it.
    }
  }

  /**
   * Makes Netty count direct memory, so that an allocation beyond the limit fails at once: the JDK
   * would run the collector first, on the event loop. Must run before Netty is loaded.
   */
  private static void countDirectMemory() {
    String setting = "io.netty.tryReflectionSetAccessible";
    if (System.getProperty(setting) == null) {
      System.setProperty(setting, "true");
    }
  }

  /**
   * Refuses TLS 1.2 renegotiation, as Go does: it costs more than a request. Ignores the server
   * names that callers send, of which Java refuses those that are no host names. Keys in key stores
   * are encrypted with one iteration instead of 10,000, as these stores are in memory only. Must run
   * before the JDK's TLS is loaded.
   */
  static void setUpTls() {
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    System.setProperty("jdk.tls.server.disableExtensions", "server_name");
    System.setProperty("keystore.pkcs12.keyPbeIterationCount", "1");
  }

  /**
   * The Spring configuration of a mode.
   *
   * @throws IllegalArgumentException if it is embedded mode, and this is the image
   */
  public static Class<?> configuration(ActivatorMode mode) {
    return switch (mode) {
      case CLUSTER -> ClusterActivator.class;
      case STANDALONE -> StandaloneActivator.class;
      case EMBEDDED -> embedded();
    };
  }

  /** By name, because the image leaves the package out. */
  private static Class<?> embedded() {
    try {
      return Class.forName("dev.activator.embedded.EmbeddedActivator");
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException("this image has no embedded mode, which is used where "
          + "there is no cluster: run the jar (java -jar activator.jar), or set KUBECONFIG", e);
    }
  }

  /** Starts the activator with all its extensions; returns when it takes requests. */
  public static void run(CommandLine command, ActivatorMode mode, Class<?> activator) {
    var shutdown = new Shutdown(ActivatorApplication::exitLater,
        Runtime.getRuntime()::halt);
    shutdown.handleSignals();
    var application = new SpringApplication(Stream
        .concat(Stream.of(activator), Extensions.ALL.stream()).toArray(Class[]::new));
    application.setMainApplicationClass(activator);
    application.setAdditionalProfiles(mode.profile());
    // A lambda, so that the log names this class as the caller.
    var hint = ActivatorMode.hint(System.getenv());
    var settings = new SettingsCheck(sentence -> log.warn(sentence));
    application.addInitializers(settings, _ -> {
      if (!hint.isEmpty()) {
        log.info(hint);
      }
    }, new HostCheck(settings), settings::register,
        context -> context.getBeanFactory().registerSingleton("shutdown", shutdown));
    var context = application.run(command.properties().toArray(String[]::new));
    shutdown.running(() -> unready(context));
  }

  private static void unready(ConfigurableApplicationContext context) {
    context.getBean(ActivatorHealth.class).draining();
  }

  /** Exits on its own thread, so that further signals are still handled. */
  private static void exitLater(int code) {
    Thread.ofPlatform().name("end").start(() -> System.exit(code));
  }

  /** The environment that decides the mode. A cluster on the command line counts as KUBECONFIG. */
  private static Map<String, String> environment(CommandLine command) {
    var environment = new HashMap<>(System.getenv());
    for (var property : new String[]{"activator.cluster.kubeconfig", "activator.cluster.server"}) {
      var value = command.property(property);
      if (value != null) {
        environment.put("KUBECONFIG", value);
      }
    }
    return environment;
  }
}
