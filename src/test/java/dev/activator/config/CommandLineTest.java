package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.app.UnknownSettings;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.env.SimpleCommandLinePropertySource;

class CommandLineTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource({"-kubeconfig a, --activator.cluster.kubeconfig=a",
      "--kubeconfig a, --activator.cluster.kubeconfig=a",
      "-kubeconfig=a, --activator.cluster.kubeconfig=a",
      "--kubeconfig=a=b, --activator.cluster.kubeconfig=a=b",
      "-server http://x:1, --activator.cluster.server=http://x:1",
      "-cluster=c, --activator.cluster.kubeconfig-cluster=c",
      "-kube-api-qps 2.5, --activator.cluster.api-qps=2.5",
      "-kube-api-burst=7, --activator.cluster.api-burst=7",
      "--activator.port.http1=1, --activator.port.http1=1"})
  void takesFlagsInEachFormThatGoTakes(String arguments, String property) {
    var command = CommandLine.parse(UnknownSettings::problem, arguments.split(" "));

    assertThat(command.properties()).containsExactly(property);
    assertThat(command.isDryRun()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"--dry-run", "-dry-run"})
  void aDryRunIsNoProperty(String flag) {
    var command = CommandLine.parse(UnknownSettings::problem, "--a.b=c", flag, "-server", "x");

    assertThat(command.isDryRun()).isTrue();
    assertThat(command.properties()).containsExactly("--a.b=c", "--activator.cluster.server=x");
    assertThat(command.property("activator.cluster.server")).isEqualTo("x");
    assertThat(command.property("activator.cluster.kubeconfig")).isNull();
  }

  @Test
  void aDryRunThatIsDeclinedIsNone() {
    assertThat(CommandLine.parse(UnknownSettings::problem, "--dry-run=false").isDryRun()).isFalse();
    assertThat(CommandLine.parse(UnknownSettings::problem, "--dry-run=true").isDryRun()).isTrue();
  }

  @ParameterizedTest(name = "{0} is refused by name")
  @CsvSource({"-kubeconfg=a", "kubeconfig", "--http1", "-x"})
  void refusesWhatMeansNothing(String argument) {
    assertThatThrownBy(() -> CommandLine.parse(UnknownSettings::problem, argument))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("the argument '" + argument + "' is unknown");
  }

  @ParameterizedTest(name = "{0} is refused, with {1} as the nearest")
  @CsvSource({"--activator.serving.queue-capcity=7, activator.serving.queue-capacity",
      "--activater.port.http1=1, activator.port.http1",
      "--activator.Port.h2=1, activator.port.h2c"})
  void refusesASettingThatThereIsNot(String argument, String nearest) {
    assertThatThrownBy(() -> CommandLine.parse(UnknownSettings::problem, argument))
        .hasMessage("the argument '" + argument
            + "' is unknown: there is no such setting; the nearest is " + nearest);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--activator.serving.queueCapacity=7",
      "--ACTIVATOR.SERVING.QUEUE_CAPACITY=7", "--activator.serving.queue-capacity=7",
      "--server.port=1", "--spring.main.lazy-initialization=true"})
  void takesSettingsAsSpringTakesThem(String argument) {
    assertThat(CommandLine.parse(UnknownSettings::problem, argument).properties())
        .containsExactly(argument);
  }

  @Test
  void saysWhatItIsOnRequest() {
    for (var mode : ActivatorMode.values()) {
      assertThat(CommandLine.information("--help"))
          .contains(mode.name().toLowerCase(Locale.ROOT) + ": ");
    }
    assertThat(CommandLine.information("--help")).startsWith("Usage: ");
    assertThat(CommandLine.information("-h")).startsWith("Usage: ")
        .contains("--activator.metrics-server.port=9090").doesNotContain("--server.port");
    CommandLine.FLAGS.keySet()
        .forEach(flag -> assertThat(CommandLine.information("--help")).contains(" -" + flag));
    assertThat(CommandLine.information("--version")).startsWith("activator ");
    assertThat(CommandLine.information("--server.port=0")).isNull();
  }

  @Test
  void refusesAFlagWithoutItsValue() {
    assertThatThrownBy(() -> CommandLine.parse(UnknownSettings::problem, "-server"))
        .hasMessage("the argument '-server' needs a value");
  }

  @Test
  void takesTheLastOfAFlagThatIsGivenTwice_asGo() {
    var line = CommandLine.parse(_ -> null, "-kube-api-qps=5", "--kube-api-qps", "10");

    // With both, Spring would make "5,10" of it.
    var source = new SimpleCommandLinePropertySource(
        line.properties().toArray(String[]::new));
    assertThat(source.getProperty("activator.cluster.api-qps")).isEqualTo("10");
  }

  @Test
  void takesTheLastOfAFlagAndItsProperty() {
    var line = CommandLine.parse(_ -> null, "-kube-api-qps=5", "--activator.cluster.api-qps=10");

    assertThat(line.properties()).containsExactly("--activator.cluster.api-qps=10");
  }
}
