package dev.activator.embedded.api.policy;

import java.util.Locale;
import java.util.Set;

/**
 * A parameter of a query that is either so or not.
 *
 * <p>
 * <b>Source.</b> {@code Convert_Slice_string_To_bool} in Kubernetes' apimachinery, whose only words
 * for "no" these are.
 */
public final class QueryFlag {
  private static final Set<String> NO = Set.of("false", "0");

  private QueryFlag() {}

  /** Whether the value of a parameter that was sent, perhaps without one, says yes. */
  public static boolean isYes(String value) {
    return !NO.contains(value.toLowerCase(Locale.ROOT));
  }
}
