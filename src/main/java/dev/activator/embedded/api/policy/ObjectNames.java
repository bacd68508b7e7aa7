package dev.activator.embedded.api.policy;

import java.util.Optional;
import java.util.regex.Pattern;

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

  private ObjectNames() {}

  /** Empty if it is one DNS label. */
  public static Optional<String> problemAsLabel(String name) {
    return problem(name, 63, LABEL_PATTERN, "label must consist of lower case"
        + " alphanumeric characters or '-', and must start and end with an alphanumeric character"
        + " (e.g. 'my-name',  or '123-abc',");
  }

  /** Empty if it is labels joined by dots. */
  public static Optional<String> problemAsSubdomain(String name) {
    return problem(name, 253, SUBDOMAIN_PATTERN, "subdomain must consist of lower case"
        + " alphanumeric characters, '-' or '.', and must start and end with an alphanumeric"
        + " character (e.g. 'example.com',");
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
