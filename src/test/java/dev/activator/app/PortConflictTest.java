package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.lifecycle.StartupFailedException;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ClassPathResource;

class PortConflictTest {
  private static StandardEnvironment environment(String mode, Map<String, String> variables)
      throws IOException {
    var environment = new StandardEnvironment();
    environment.setActiveProfiles(mode);
    var sources = environment.getPropertySources();
    sources.forEach(source -> sources.remove(source.getName()));
    sources.addLast(
        new SystemEnvironmentPropertySource("systemEnvironment", new HashMap<>(variables)));
    for (var file : List.of("application-" + mode + ".yaml", "application.yaml")) {
      new YamlPropertySourceLoader().load("Config resource 'class path resource [" + file + "]'",
          new ClassPathResource(file)).forEach(sources::addLast);
    }
    ConfigurationPropertySources.attach(environment);
    return environment;
  }

  private static Map<String, String> variables(String text) {
    var all = new HashMap<String, String>();
    for (var one : text.split(" ")) {
      all.put(one.substring(0, one.indexOf('=')), one.substring(one.indexOf('=') + 1));
    }
    return all;
  }

  @ParameterizedTest(name = "{0}: {1} are both {2}")
  @CsvSource({"ACTIVATOR_PORT_H2C=8012, activator.port.http1 and activator.port.h2c, 8012",
      "ACTIVATOR_PORT_HTTPS=8013 ACTIVATOR_TLS_CERTIFICATE=/c ACTIVATOR_TLS_KEY=/k,"
          + " activator.port.h2c and activator.port.https, 8013",
      "METRICS_PROMETHEUS_PORT=8014, METRICS_PROMETHEUS_PORT and activator.lending.port, 8014",
      "METRICS_PROMETHEUS_PORT=8012, activator.port.http1 and METRICS_PROMETHEUS_PORT, 8012",
      "ACTIVATOR_PORT_HTTP1=9090, activator.port.http1 and activator.metrics-server.port, 9090",
      "PROFILING_PORT=9090, activator.metrics-server.port and PROFILING_PORT, 9090",
      "ACTIVATOR_CONSOLE_PORT=8012, activator.port.http1 and activator.console.port, 8012",
      "PROFILING_PORT=8015, activator.console.port and PROFILING_PORT, 8015",
      "SERVER_PORT=8008, server.port and activator.profiling.port, 8008",
      "ACTIVATOR_SERVING_BINDADDRESS=10.0.0.1 PROFILING_PORT=8012,"
          + " activator.port.http1 and PROFILING_PORT, 8012"})
  void namesBothThatAreToHaveOnePort(String set, String names, int port) throws Exception {
    var environment = environment("cluster", variables(set));

    assertThatThrownBy(
        () -> SettingsCheck.checkPorts(environment, new SettingsCheck.Settings(environment)))
        .isInstanceOf(StartupFailedException.class)
        .hasMessage(names + " are both " + port + ", but two servers cannot share a port");
  }

  @ParameterizedTest(name = "{0} is in the range")
  @CsvSource({"ACTIVATOR_PORT_HTTP1=9101, activator.port.http1",
      "METRICS_PROMETHEUS_PORT=9100, METRICS_PROMETHEUS_PORT",
      "ACTIVATOR_STANDALONE_SNIPORT=9102, activator.standalone.sni-port"})
  void aPortForConnectionsIsNoOther(String set, String name) throws Exception {
    var environment = environment("cluster",
        variables(set + " ACTIVATOR_STANDALONE_TCPPORTS=9100-9102"));

    assertThatThrownBy(
        () -> SettingsCheck.checkPorts(environment, new SettingsCheck.Settings(environment)))
        .isInstanceOf(StartupFailedException.class)
        .hasMessage(name + " is one of activator.standalone.tcp-ports, 9100-9102, but two servers"
            + " cannot share a port");
  }

  @ParameterizedTest(name = "{0} is fine")
  @CsvSource({"ACTIVATOR_PORT_HTTP1=8016", "ACTIVATOR_STANDALONE_TCPPORTS=8009-8011",
      // the console shares the port of metrics
      "ACTIVATOR_CONSOLE_PORT=9090", "ACTIVATOR_CONSOLE_PORT=0",
      "ACTIVATOR_SERVING_BINDADDRESS=10.0.0.1 ACTIVATOR_CONSOLE_PORT=8012",
      "ACTIVATOR_PORT_HTTP1=8014 ACTIVATOR_LENDING_MODE=off",
      "ACTIVATOR_PORT_HTTP1=0 ACTIVATOR_PORT_H2C=0",
      "ACTIVATOR_SERVING_BINDADDRESS=10.0.0.1 METRICS_PROMETHEUS_HOST=127.0.0.1"
          + " METRICS_PROMETHEUS_PORT=8012",
      "ACTIVATOR_PORT_HTTP1=8001", "ACTIVATOR_PORT_HTTPS=8013",
      "ACTIVATOR_PORT=tcp://10.96.0.8:80 ACTIVATOR_PORT_80_TCP=tcp://10.96.0.8:80",
      "ACTIVATOR_TLS=tcp://10.96.0.8:80"})
  void refusesNoOthers(String set) throws Exception {
    var environment = environment("cluster", variables(set));

    assertThatCode(
        () -> SettingsCheck.checkPorts(environment, new SettingsCheck.Settings(environment)))
        .doesNotThrowAnyException();
  }

  @Test
  void knowsTheEmbeddedModesPorts() throws Exception {
    var environment = environment("embedded", Map.of("ACTIVATOR_PORT_HTTP1", "8001"));

    assertThatThrownBy(
        () -> SettingsCheck.checkPorts(environment, new SettingsCheck.Settings(environment)))
        .hasMessage("activator.port.http1 and"
            + " activator.embedded.api-port are both 8001, but two servers cannot share a port");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"localhost", "LocalHost", "127.0.0.1", "::", "0:0:0:0:0:0:0:0"})
  void knowsTheNamesOfThisMachine(String host) throws Exception {
    var environment = environment("embedded",
        Map.of("METRICS_PROMETHEUS_HOST", host, "METRICS_PROMETHEUS_PORT", "8012"));

    assertThatThrownBy(
        () -> SettingsCheck.checkPorts(environment, new SettingsCheck.Settings(environment)))
        .hasMessageStartingWith("activator.port.http1 and METRICS_PROMETHEUS_PORT are both 8012");
  }
}
