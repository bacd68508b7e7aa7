package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.lifecycle.StartupFailedException;
import dev.activator.settings.ProxyServerProperties.PortProperties;
import java.util.ArrayList;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

class SettingsCheckTest {
  @ParameterizedTest
  @ValueSource(strings = {"management.server.port", "MANAGEMENT_SERVER_PORT"})
  void refusesASecondServerWhichTheJarCannotHave(String name) {
    try (var context = new GenericApplicationContext()) {
      var sources = context.getEnvironment().getPropertySources();
      sources.addFirst(new SystemEnvironmentPropertySource("set", Map.of(name, "9999")));
      ConfigurationPropertySources.attach(context.getEnvironment());

      assertThatThrownBy(() -> new SettingsCheck(sentence -> {
      }).initialize(context)).isInstanceOf(StartupFailedException.class)
          .hasMessage("management.server.port cannot be set: health and metrics are on "
              + "activator.metrics-server.port, or METRICS_PROMETHEUS_PORT");
    }
  }

  @Test
  void refusesTokensWhereNoneCanBeChecked() {
    try (var context = new GenericApplicationContext()) {
      context.getEnvironment().setActiveProfiles("embedded");
      var sources = context.getEnvironment().getPropertySources();
      sources.addFirst(new SystemEnvironmentPropertySource("systemEnvironment",
          Map.of("ACTIVATOR_CONSOLE_AUTH", "token")));
      ConfigurationPropertySources.attach(context.getEnvironment());

      assertThatThrownBy(() -> new SettingsCheck(sentence -> {
      }).initialize(context)).isInstanceOf(StartupFailedException.class)
          .hasMessage("activator.console.auth is token, but embedded mode has no tokens: its ports"
              + " are for this machine only");
    }
  }

  @Test
  void reportsWhatIsDoubtfulAndGoesOn() {
    try (var context = new GenericApplicationContext()) {
      context.getEnvironment().getPropertySources()
          .addFirst(new MapPropertySource("a file", Map.of("activator.prot.http1", "1")));
      var received = new ArrayList<String>();

      new SettingsCheck(received::add).initialize(context);

      assertThat(received)
          .containsExactly("activator.prot.http1 is set, but there is no such setting;"
              + " the nearest is activator.port.http1");
    }
  }

  @Test
  void bindsTheRecordOfADefinition_soThatItIsTheBean() {
    try (var context = new GenericApplicationContext()) {
      context.getEnvironment().getPropertySources()
          .addFirst(new MapPropertySource("a file", Map.of("activator.port.http1", "7")));
      var name = "activator.port-" + PortProperties.class.getName();
      context.registerBeanDefinition(name, new RootBeanDefinition(PortProperties.class, () -> {
        throw new AssertionError("bound again");
      }));

      var check = new SettingsCheck(_ -> {
      });
      check.initialize(context);
      check.register(context);
      context.refresh();

      assertThat(context.getBean(PortProperties.class).http1()).isEqualTo(7);
      assertThat(context.getBean(name)).isSameAs(context.getBean(PortProperties.class));
    }
  }
}
