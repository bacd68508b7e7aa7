package dev.activator.app;

import dev.activator.proxy.policy.HostRule;
import dev.activator.revision.RevisionId;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Embedded mode's hosts: {@code <service>.<namespace>.localhost}, with any port, is the Service's
 * latest revision.
 *
 * @param latest from namespace and service to revision; null for none
 */
record LocalHosts(BiFunction<String, String, @Nullable RevisionId> latest) implements HostRule {
  private static final String SUFFIX = ".localhost";

  @Override
  public @Nullable RevisionId revision(String host) {
    int colon = host.indexOf(':');
    String name = colon < 0 ? host : host.substring(0, colon);
    if (!name.endsWith(SUFFIX)) {
      return null;
    }
    String[] parts = name.substring(0, name.length() - SUFFIX.length()).split("\\.", -1);
    boolean named = parts.length == 2 && !parts[0].isEmpty() && !parts[1].isEmpty();
    return named ? latest.apply(parts[1], parts[0]) : null;
  }
}
