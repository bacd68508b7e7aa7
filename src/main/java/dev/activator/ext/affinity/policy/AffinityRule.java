package dev.activator.ext.affinity.policy;

import dev.activator.config.RevisionAnnotations;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The affinity of a revision, as its annotations define it.
 *
 * @param name of the header, cookie or parameter
 * @param isRejectedWithoutPod whether a request fails whose pod is gone; otherwise another takes it
 */
public record AffinityRule(Source source, String name, Mode mode,
    boolean isRejectedWithoutPod) {
  /** The cookie that the activator sets itself, where the annotation names none. */
  private static final String OWN_COOKIE = "activator-affinity";
  private static final String PREFIX = RevisionAnnotations.GROUP + "affinity-";
  private static final String MODE = PREFIX + "mode";
  private static final String ON_POD_GONE = PREFIX + "on-pod-gone";

  /** Where the key is. */
  public enum Source {
    HEADER("header"),
    COOKIE("cookie"),
    QUERY("query");

    private final String annotation;

    Source(String field) {
      this.annotation = PREFIX + field;
    }
  }

  /** What becomes of a request whose pod has no room. */
  public enum Mode {
    /** Another pod takes it. */
    PREFER,
    /** It waits for its pod. */
    STRICT,
    /** Another pod takes it that has no request of another key. */
    EXCLUSIVE;

    private static Mode of(String annotation) {
      return switch (annotation) {
        case "strict" -> STRICT;
        case "exclusive" -> EXCLUSIVE;
        default -> PREFER;
      };
    }
  }

  /** Those of a revision's annotations that define its affinity. */
  public static Map<String, String> in(Map<String, String> annotations) {
    return annotations.isEmpty()
        ? annotations
        : annotations.entrySet().stream().filter(one -> one.getKey().startsWith(PREFIX))
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  /**
   * Returns null if there is none, or if it is invalid.
   *
   * @param problems gets a sentence for each invalid annotation
   */
  public static @Nullable AffinityRule parse(Map<String, String> annotations,
      Consumer<String> problems) {
    var found = new ArrayList<Source>(1);
    for (var source : Source.values()) {
      if (isValid(source.annotation, annotations, problems)) {
        found.add(source);
      }
    }
    if (found.size() > 1) {
      problems.accept("annotations " + found.get(0).annotation + " and " + found.get(1).annotation
          + ": a request has one key");
      return null;
    }
    var mode = isValid(MODE, annotations, problems)
        ? Mode.of(annotations.getOrDefault(MODE, "").strip())
        : Mode.PREFER;
    boolean isRejected = isValid(ON_POD_GONE, annotations, problems)
        && annotations.getOrDefault(ON_POD_GONE, "").strip().equals("reject");
    if (found.isEmpty()) {
      return null;
    }
    if (isRejected && mode != Mode.STRICT) {
      problems.accept("annotation " + ON_POD_GONE + ": reject has an effect only if " + MODE
          + " is strict");
    }
    var source = found.getFirst();
    var value = annotations.getOrDefault(source.annotation, "").strip();
    var name = value.isEmpty() ? OWN_COOKIE : value;
    boolean isOwnCookie = isOwnCookie(source, name);
    if (isRejected && isOwnCookie) {
      problems.accept("annotation " + ON_POD_GONE + ": reject has no effect on the activator's own"
          + " cookie, since a caller that is rejected cannot get another one");
    }
    return new AffinityRule(source, name, mode,
        mode == Mode.STRICT && isRejected && !isOwnCookie);
  }

  private static boolean isValid(String name, Map<String, String> annotations,
      Consumer<String> problems) {
    var value = annotations.get(name);
    if (value == null) {
      return false;
    }
    var problem = RevisionAnnotations.problem(name, value);
    problem.ifPresent(text -> problems.accept("annotation " + name + ": " + text));
    return problem.isEmpty();
  }

  /** Whether the activator sets the cookie itself. */
  public boolean isOwnCookie() {
    return isOwnCookie(source, name);
  }

  private static boolean isOwnCookie(Source source, String name) {
    return source == Source.COOKIE && name.equals(OWN_COOKIE);
  }

  /**
   * The value of a request's key; null if it has none.
   *
   * @param path path and query
   */
  public @Nullable String keyOf(Function<String, List<String>> headers, String path) {
    var value = switch (source) {
      case HEADER -> first(headers.apply(name));
      case COOKIE -> cookie(headers.apply("Cookie"));
      case QUERY -> parameter(path);
    };
    return value == null || value.isBlank() ? null : value;
  }

  /** The keys that a pod has issued with a response. */
  public List<String> keysIssued(Function<String, List<String>> headers) {
    return switch (source) {
      case HEADER -> headers.apply(name).stream().filter(value -> !value.isBlank()).toList();
      case COOKIE -> headers.apply("Set-Cookie").stream()
          .map(line -> cookieOf(line.substring(0, endOf(line, 0, ';'))))
          .filter(value -> value != null && !value.isBlank()).toList();
      case QUERY -> List.of();
    };
  }

  private static @Nullable String first(List<String> values) {
    return values.isEmpty() ? null : values.getFirst();
  }

  private @Nullable String cookie(List<String> lines) {
    for (var line : lines) {
      for (int start = 0; start < line.length();) {
        int end = endOf(line, start, ';');
        var value = cookieOf(line.substring(start, end));
        if (value != null) {
          return value;
        }
        start = end + 1;
      }
    }
    return null;
  }

  /** The value of a pair, as it is sent; null if it is another cookie. */
  private @Nullable String cookieOf(String pair) {
    int equals = pair.indexOf('=');
    return equals >= 0 && pair.substring(0, equals).strip().equals(name)
        ? pair.substring(equals + 1).strip()
        : null;
  }

  /** Compared as it is sent: nothing is decoded. */
  private @Nullable String parameter(String path) {
    int query = path.indexOf('?');
    for (int start = query + 1; query >= 0 && start < path.length();) {
      int end = endOf(path, start, '&');
      if (path.startsWith(name, start) && start + name.length() < end
          && path.charAt(start + name.length()) == '=') {
        return path.substring(start + name.length() + 1, end);
      }
      start = end + 1;
    }
    return null;
  }

  private static int endOf(String text, int start, char separator) {
    int end = text.indexOf(separator, start);
    return end < 0 ? text.length() : end;
  }
}
