package dev.activator.observability.meter;

import java.util.ArrayList;
import java.util.List;

/**
 * What tells one series of a meter from its others.
 *
 * @param names with dots between their words
 * @param values of the names, in their order
 */
public record Tags(List<String> names, List<String> values) {
  public static final Tags NONE = new Tags(List.of(), List.of());

  public Tags {
    if (names.size() != values.size()) {
      throw new IllegalArgumentException(names + " are not as many as " + values);
    }
  }

  public static Tags of(String name, String value) {
    return NONE.and(name, value);
  }

  /** These and one more. */
  public Tags and(String name, String value) {
    var moreNames = new ArrayList<>(names);
    var moreValues = new ArrayList<>(values);
    moreNames.add(name);
    moreValues.add(value);
    return new Tags(List.copyOf(moreNames), List.copyOf(moreValues));
  }
}
