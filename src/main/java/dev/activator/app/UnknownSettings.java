package dev.activator.app;

import dev.activator.config.CommandLine;
import dev.activator.config.SpellingSuggester;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Finds settings with names like ours that do not exist, because they are probably misspelt.
 *
 * <p>Spring's own check ({@code ignoreUnknownFields}) ignores variables and misspelt prefixes.
 */
public final class UnknownSettings {
  private static final String OURS = "activator";
  private static final int NEARLY = 1;
  /** Variables that do not stand for properties. */
  private static final Set<String> OTHERS = Set.of("ACTIVATOR_MODE", "ACTIVATOR_COMMIT");
  private static final String SERVICE_HOST = "_SERVICE_HOST";
  private static final String VARIABLES = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;

  private UnknownSettings() {}

  static List<String> in(ConfigurableEnvironment environment) {
    return environment.getPropertySources().stream()
        .filter(EnumerablePropertySource.class::isInstance)
        .map(source -> (EnumerablePropertySource<?>) source).flatMap(UnknownSettings::in)
        .distinct().toList();
  }

  private static Stream<String> in(EnumerablePropertySource<?> source) {
    var names = List.of(source.getPropertyNames());
    if (source.getName().equals(VARIABLES)) {
      return variables(names);
    }
    // Our own files are correct, and CommandLine checks arguments.
    boolean isChecked = source.getName().contains("class path resource")
        || source.getName().equals("commandLineArgs");
    return isChecked
        ? Stream.empty()
        : names.stream().flatMap(name -> sentence(name, problem(name)));
  }

  private static Stream<String> sentence(String name, @Nullable String problem) {
    return problem == null ? Stream.empty() : Stream.of(name + " is set, but " + problem);
  }

  /** The problem of a property; null if it exists, or if it is not ours. */
  public static @Nullable String problem(String property) {
    if (!isOurs(property.split("[.\\[]", 2)[0])) {
      return null;
    }
    var name = ConfigurationPropertyName.adapt(property, '.');
    var known = EffectiveProperties.names();
    return known.stream().map(ConfigurationPropertyName::of).anyMatch(name::equals)
        ? null
        : problem(property.toLowerCase(Locale.ROOT), known);
  }

  private static String problem(String written, Collection<String> names) {
    var nearest = SpellingSuggester.nearest(written, names);
    return "there is no such setting; "
        + (nearest == null ? "--dry-run shows those there are" : "the nearest is " + nearest);
  }

  /** Whether the first part of a name is ours, or is probably a misspelling of it. */
  private static boolean isOurs(String first) {
    return SpellingSuggester.distance(first.toLowerCase(Locale.ROOT), OURS) <= NEARLY;
  }

  private static Stream<String> variables(List<String> all) {
    var ours = all.stream().filter(name -> isOurs(name.split("_", 2)[0]) && name.contains("_"))
        .filter(name -> !OTHERS.contains(name) && !isLink(name, all)).toList();
    if (ours.isEmpty()) {
      return Stream.empty();
    }
    var known = EffectiveProperties.names().stream().flatMap(UnknownSettings::variablesOf)
        .distinct().toList();
    return ours.stream().filter(name -> !known.contains(name.toUpperCase(Locale.ROOT)))
        .flatMap(name -> sentence(name, problem(name.toUpperCase(Locale.ROOT), known)));
  }

  /**
   * The variables that Spring maps to a property: dashes are left out, or become underscores like
   * the dots.
   */
  private static Stream<String> variablesOf(String property) {
    var name = property.toUpperCase(Locale.ROOT).replace('.', '_');
    return Stream.of(name.replace("-", ""), name.replace('-', '_'));
  }

  /** Whether the kubelet has set the variable for a Service of the namespace. */
  private static boolean isLink(String name, List<String> all) {
    return all.stream().filter(other -> other.endsWith(SERVICE_HOST))
        .map(other -> other.substring(0, other.length() - SERVICE_HOST.length()))
        .anyMatch(service -> name.startsWith(service + "_SERVICE_")
            || name.equals(service + "_PORT") || name.startsWith(service + "_PORT_"));
  }
}
