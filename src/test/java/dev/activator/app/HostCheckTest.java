package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.lifecycle.StartupFailedException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;

class HostCheckTest {
  private static final Map<String, Object> FREE = Map.of("activator.port.http1", "0",
      "activator.port.h2c", "0", "activator.port.https", "0", "server.port", "0",
      "activator.embedded.api-port", "0", "activator.embedded.autoscaler-port", "0",
      "activator.profiling.port", "0", "activator.serving.bind-address", "127.0.0.1");

  @Test
  void namesEveryPortThatIsTaken() throws Exception {
    assertThatCode(check("embedded", Map.of())).doesNotThrowAnyException();
    try (var one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(check("embedded", Map.of("activator.port.http1", one.getLocalPort(),
          "activator.embedded.api-port", other.getLocalPort())))
          .isInstanceOf(StartupFailedException.class)
          .hasMessageStartingWith("cannot listen: activator.port.http1 is " + one.getLocalPort()
              + ": Address already in use")
          .hasMessageContaining("; activator.embedded.api-port is " + other.getLocalPort()
              + ": Address already in use");
    }
  }

  @Test
  void namesTheSettingsOfACertificate() {
    assertThatThrownBy(check("embedded", Map.of("activator.tls.certificate", "/nowhere/c",
        "activator.tls.key", "/nowhere/k"))).isInstanceOf(StartupFailedException.class)
        .hasMessage("activator.tls.certificate is '/nowhere/c', activator.tls.key is '/nowhere/k':"
            + " there is no file /nowhere/c");
  }

  @Test
  void namesTheKubeconfigBeforeAnythingElse() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(check("cluster", Map.of("activator.port.http1", taken.getLocalPort(),
          "activator.cluster.kubeconfig", "/nowhere/config")))
          .isInstanceOf(StartupFailedException.class)
          .hasMessage("there is no readable kubeconfig at /nowhere/config");
    }
  }

  @Test
  void ignoresTakenPorts_whileTheWiringIsGenerated() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatCode(check("embedded", Map.of("activator.port.http1", taken.getLocalPort(),
          "spring.aot.processing", "true"))).doesNotThrowAnyException();
    }
  }

  private static ThrowingCallable check(String profile, Map<String, Object> settings) {
    return () -> {
      try (var context = new GenericApplicationContext()) {
        var environment = context.getEnvironment();
        environment.setActiveProfiles(profile);
        var all = new HashMap<>(FREE);
        all.putAll(settings);
        environment.getPropertySources().addFirst(new MapPropertySource("test", all));
        ConfigurationPropertySources.attach(environment);

        var check = new SettingsCheck(_ -> {
        });
        check.initialize(context);
        new HostCheck(check).initialize(context);
      }
    };
  }
}
