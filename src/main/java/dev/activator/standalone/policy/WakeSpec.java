package dev.activator.standalone.policy;

import dev.activator.revision.ScaleTarget;
import java.util.Map;

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
    return fields.get("kind") instanceof String kind ? kind : method;
  }

  @Override
  public String name() {
    return fields.get("name") instanceof String name ? name : fields.toString();
  }

  /** Kind and name, such as {@code Sandbox web}. */
  @Override
  public String toString() {
    return kind() + " " + name();
  }
}
