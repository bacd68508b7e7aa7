package dev.activator.embedded.runtime.policy;

import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces variables in a command, as no shell runs it.
 *
 * <p>
 * <b>Source.</b> Kubernetes replaces {@code $(NAME)}; {@code $NAME} and <code>${NAME}</code> are
 * what people write. An unknown name stays, for a shell in the command.
 */
public final class Expansion {
  private static final Pattern VARIABLE = Pattern
      .compile("\\$(?:\\((\\w+)\\)|\\{(\\w+)}|([A-Za-z_]\\w*))");

  private Expansion() {}

  public static List<String> of(List<String> words, Map<String, String> variables) {
    return words.stream().map(word -> of(word, variables)).toList();
  }

  static String of(String word, Map<String, String> variables) {
    return VARIABLE.matcher(word).replaceAll(found -> {
      String value = variables.get(name(found));
      return Matcher.quoteReplacement(value == null ? found.group() : value);
    });
  }

  private static String name(MatchResult found) {
    for (int group = 1; group < found.groupCount(); group++) {
      if (found.group(group) != null) {
        return found.group(group);
      }
    }
    return found.group(found.groupCount());
  }
}
