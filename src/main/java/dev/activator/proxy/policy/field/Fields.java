package dev.activator.proxy.policy.field;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The header fields of one message. Names are compared ignoring case. */
public interface Fields {
  /** The first value; null if there is none. */
  @Nullable String first(Field field);

  /** All values, in order. */
  List<String> all(Field field);

  boolean has(Field field);

  /** Replaces all values by this one. */
  void set(Field field, String value);

  void remove(Field field);

  /** As the other, for names that only the message knows. */
  void remove(String name);

  /** As the other, for many of them at once, in a set that does not mind case. */
  void removeAll(Set<String> names);

  /** The first value; empty if there is none. */
  default String text(Field field) {
    String value = first(field);
    return value == null ? "" : value;
  }
}
