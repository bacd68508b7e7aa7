package dev.activator.standalone.policy;

import dev.activator.revision.ScaleTarget;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code spec.wake} of a ScaledService as it is written: what has no scale, which an extension starts
 * and stops.
 *
 * @param method the name of its field, such as {@code patch}
 * @param fields the value of that field, as texts, numbers, booleans, lists and maps
 */
public record WakeSpec(String method, Map<?, ?> fields) implements ScaleTarget {
  @Override
  public String kind() {
    return fields.get("kind") instanceof String kind ? kind : url() == null ? method : "URL";
  }

  @Override
  public String name() {
    return fields.get("name") instanceof String name
        ? name
        : Objects.requireNonNullElseGet(url(), fields::toString);
  }

  /** The URL that starts it, without the query, which may have a secret; null if there is none. */
  private @Nullable String url() {
    return fields.get("start") instanceof Map<?, ?> start && start.get("url") instanceof String url
        ? url.split("[?]", 2)[0]
        : null;
  }

  /** Kind and name, such as {@code Sandbox web}. */
  @Override
  public String toString() {
    return kind() + " " + name();
  }
}
