package dev.activator.app;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Removes empty variables from the environment, so that they count as not set, like in Go programs.
 *
 * <p><b>Source.</b> {@code os.Getenv}. Two variables stay, because Knative reads them with
 * {@code envconfig}, which refuses an empty number.
 */
final class EmptyVariableRemover implements EnvironmentPostProcessor {
  private static final Set<String> LEFT = Set.of("MAX_IDLE_PROXY_CONNS",
      "MAX_IDLE_PROXY_CONNS_PER_HOST");
  private static final String SOURCE = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;

  @Override
  public void postProcessEnvironment(ConfigurableEnvironment environment,
      SpringApplication application) {
    dropFrom(environment);
  }

  static void dropFrom(ConfigurableEnvironment environment) {
    var sources = environment.getPropertySources();
    if (sources.get(SOURCE) instanceof SystemEnvironmentPropertySource variables) {
      Map<String, Object> set = new HashMap<>(variables.getSource());
      if (set.entrySet().removeIf(one -> isEmpty(one.getKey(), one.getValue()))) {
        sources.replace(SOURCE, new SystemEnvironmentPropertySource(SOURCE, set));
      }
    }
  }

  private static boolean isEmpty(String name, Object value) {
    return !LEFT.contains(name) && value.toString().isEmpty();
  }
}
