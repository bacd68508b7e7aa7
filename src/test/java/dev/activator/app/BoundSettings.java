package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ClassPathResource;

/** What variables set, and the line that a start ends with because of a bad one. */
public final class BoundSettings {
  static final Map<String, String> REQUIRED = Map.of("POD_NAME", "activator-1", "POD_IP",
      "10.0.0.1", "SYSTEM_NAMESPACE", "knative-serving");

  private BoundSettings() {}

  /** What a start in a cluster has with these variables. */
  public static StandardEnvironment environment(Map<String, String> variables) {
    var environment = new StandardEnvironment();
    var sources = environment.getPropertySources();
    sources.forEach(source -> sources.remove(source.getName()));
    sources.addLast(new SystemEnvironmentPropertySource("systemEnvironment",
        new HashMap<>(variables)));
    for (var file : new String[]{"application-cluster.yaml", "application.yaml"}) {
      try {
        new YamlPropertySourceLoader()
            .load("Config resource 'class path resource [" + file + "]'",
                new ClassPathResource(file))
            .forEach(sources::addLast);
      } catch (IOException absent) {
        throw new AssertionError(absent);
      }
    }
    EmptyVariableRemover.dropFrom(environment);
    ConfigurationPropertySources.attach(environment);
    return environment;
  }

  public static <T> T bind(String prefix, Class<T> type, Map<String, String> variables) {
    var all = new HashMap<>(REQUIRED);
    all.putAll(variables);
    return Binder.get(environment(all)).bindOrCreate(prefix, type);
  }

  /** The line the log has instead of a start. */
  public static String line(String prefix, Class<?> type, Map<String, String> variables) {
    var all = new HashMap<>(REQUIRED);
    all.putAll(variables);
    var environment = environment(all);
    var failure = catchThrowable(() -> Binder.get(environment).bindOrCreate(prefix, type));
    assertThat(failure).as("%s", variables).isNotNull();
    var analysis = new StartupFailureAnalyzer(environment).analyze(failure);
    assertThat(analysis).as("%s", failure).isNotNull();
    assertThat(analysis.getDescription()).doesNotContain("\n");
    return analysis.getDescription();
  }
}
