package dev.activator.embedded.api.apply;

import java.util.Locale;

/**
 * An owner of fields (field manager): the key of an entry in {@code metadata.managedFields}.
 *
 * @param subresource the subresource that it writes to; empty for the object itself
 */
public record FieldOwner(String name, Operation operation, String subresource) {
  public static final int MAX_LENGTH = 128;

  public enum Operation {
    APPLY,
    UPDATE;

    String text() {
      return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The owner of an update. Without a name, it is the program at the start of {@code userAgent}, or
   * {@code unknown}.
   */
  public static FieldOwner updating(String name, String userAgent, String subresource) {
    String program = userAgent.split("/", 2)[0].replaceAll("[^\\x20-\\x7e]", "");
    String known = program.isEmpty() ? "unknown" : program;
    String used = name.isEmpty() ? known : name;
    return new FieldOwner(used.substring(0, Math.min(MAX_LENGTH, used.length())),
        Operation.UPDATE, subresource);
  }

  /** The owner as messages show it. */
  String described(String apiVersion) {
    return '"' + name + '"'
        + (subresource.isEmpty() ? "" : " with subresource \"" + subresource + '"')
        + (operation == Operation.UPDATE ? " using " + apiVersion : "");
  }
}
