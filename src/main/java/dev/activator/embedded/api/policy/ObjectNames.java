package dev.activator.embedded.api.policy;

import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The rules for names of objects.
 *
 * <p><b>Source.</b> RFC 1123 section 2.1, and the texts of {@code util/validation/validation.go} in
 * Kubernetes' apimachinery.
 */
public final class ObjectNames {
  private static final String LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
  private static final Pattern LABEL_PATTERN = Pattern.compile(LABEL);
  private static final Pattern SUBDOMAIN_PATTERN = Pattern
      .compile(LABEL + "(\\." + LABEL + ")*");

  private static final String WORD = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
  private static final Pattern WORD_PATTERN = Pattern.compile(WORD);
  private static final Pattern DATA_KEY_PATTERN = Pattern.compile("[-._a-zA-Z0-9]+");
  private static final String CHARACTERS = "alphanumeric characters, '-', '_' or '.'";
  private static final String BOTH_ENDS = ", and must start and end with an alphanumeric character";

  private ObjectNames() {}

  /** The problem of a label's value; empty if it is valid. */
  public static Optional<String> problemAsLabelValue(String value) {
    if (value.length() > 63) {
      return Optional.of("must be no more than 63 characters");
    }
    return value.isEmpty() || WORD_PATTERN.matcher(value).matches()
        ? Optional.empty()
        : Optional.of("a valid label must be an empty string or consist of " + CHARACTERS
            + BOTH_ENDS + " (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for"
            + " validation is '(" + WORD + ")?')");
  }

  /** The problem of the key of a label or annotation; empty if it is valid. */
  public static Optional<String> problemAsKey(String key) {
    int slash = key.indexOf('/');
    String name = key.substring(slash + 1);
    String rule = "must consist of " + CHARACTERS + BOTH_ENDS + " (e.g. 'MyName',  or 'my.name',"
        + "  or '123-abc', regex used for validation is '" + WORD + "')";
    if (name.indexOf('/') >= 0) {
      return Optional.of("a valid label key " + rule + " with an optional DNS subdomain prefix and"
          + " '/' (e.g. 'example.com/MyName')");
    }
    if (slash >= 0) {
      var prefix = slash == 0
          ? Optional.of("must be non-empty")
          : problemAsSubdomain(key.substring(0, slash));
      if (prefix.isPresent()) {
        return prefix.map(text -> "prefix part " + text);
      }
    }
    if (name.length() > 63) {
      return Optional.of("name part must be no more than 63 characters");
    }
    return WORD_PATTERN.matcher(name).matches()
        ? Optional.empty()
        : Optional.of("name part " + rule);
  }

  /** The problem of a key in the data of a ConfigMap or Secret; empty if it is valid. */
  public static Optional<String> problemAsDataKey(String key) {
    return DATA_KEY_PATTERN.matcher(key).matches()
        ? Optional.empty()
        : Optional.of("a valid config key must consist of " + CHARACTERS + " (e.g. 'key.name',  or"
            + " 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
  }

  /** The problem of a name that must be one DNS label; empty if it is valid. */
  public static Optional<String> problemAsLabel(String name) {
    return problem(name, 63, LABEL_PATTERN, "label must consist of lower case"
        + " alphanumeric characters or '-', and must start and end with an alphanumeric character"
        + " (e.g. 'my-name',  or '123-abc',");
  }

  /** The problem of a name that must be DNS labels with dots between; empty if it is valid. */
  public static Optional<String> problemAsSubdomain(String name) {
    return problem(name, 253, SUBDOMAIN_PATTERN, "subdomain must consist of lower case"
        + " alphanumeric characters, '-' or '.', and must start and end with an alphanumeric"
        + " character (e.g. 'example.com',");
  }

  /** The problem of a name that must only be one element of a path; empty if it is valid. */
  public static Optional<String> problemAsPathSegment(String name) {
    if (name.equals(".") || name.equals("..")) {
      return Optional.of("may not be '" + name + "'");
    }
    return Stream.of("/", "%").filter(name::contains).findFirst()
        .map(character -> "may not contain '" + character + "'");
  }

  private static Optional<String> problem(String name, int limit, Pattern pattern, String rule) {
    if (name.length() > limit) {
      return Optional.of("must be no more than " + limit + " characters");
    }
    return pattern.matcher(name).matches()
        ? Optional.empty()
        : Optional.of("a lowercase RFC 1123 " + rule + " regex used for validation is '" + pattern
            + "')");
  }
}
