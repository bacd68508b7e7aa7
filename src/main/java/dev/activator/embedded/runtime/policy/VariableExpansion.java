package dev.activator.embedded.runtime.policy;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces variables in texts of a manifest. An unknown variable is left, since a shell in the
 * command may replace it.
 *
 * <p><b>Source.</b> {@code third_party/forked/golang/expansion} of Kubernetes: {@code $(NAME)} is
 * replaced, and {@code $$} becomes one {@code $}.
 */
public final class VariableExpansion {
  private static final String KUBERNETES = "\\$(?:\\$|\\(([^)]*)\\)";
  private static final Pattern REFERENCE = Pattern.compile(KUBERNETES + ")");
  /**
   * The references in commands. {@code $PORT} and <code>${PORT}</code> are also replaced, because
   * no shell reads a command.
   */
  private static final Pattern IN_COMMAND = Pattern
      .compile(KUBERNETES + "|(PORT)(?!\\w)|\\{(PORT)})");

  private VariableExpansion() {}

  public static String of(String text, Map<String, String> variables) {
    return replaced(REFERENCE, text, variables);
  }

  public static List<String> ofCommand(List<String> words, Map<String, String> variables) {
    return words.stream().map(word -> replaced(IN_COMMAND, word, variables)).toList();
  }

  private static String replaced(Pattern pattern, String text, Map<String, String> variables) {
    return pattern.matcher(text).replaceAll(found -> {
      for (int group = 1; group <= found.groupCount(); group++) {
        if (found.group(group) != null) {
          return Matcher.quoteReplacement(
              variables.getOrDefault(found.group(group), found.group()));
        }
      }
      return "\\$";
    });
  }
}
