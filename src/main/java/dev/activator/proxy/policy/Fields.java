package dev.activator.proxy.policy;

import java.util.List;
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

  /** The first value; empty if there is none. */
  default String text(Field field) {
    String value = first(field);
    return value == null ? "" : value;
  }
}
