package dev.activator.ext.actuators.policy;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Compares the fields that a merge patch sets with those of an object. Both are maps of texts,
 * numbers, booleans, lists and maps.
 *
 * <p><b>Source.</b> RFC 7386: a null removes a field, and a list is replaced as a whole.
 */
public final class PatchedFields {
  private PatchedFields() {}

  /** The paths of the fields that an object has not as the patch sets them. */
  public static List<String> differences(Map<?, ?> patch, Map<?, ?> object) {
    var found = new ArrayList<String>();
    addDifferences("", patch, object, found);
    return found;
  }

  private static void addDifferences(String path, @Nullable Object set, @Nullable Object now,
      List<String> found) {
    // A patch that only removes fields is done where there is no object. One without any field
    // makes an empty object.
    if (set instanceof Map<?, ?> fields
        && (now instanceof Map || now == null && !fields.isEmpty())) {
      fields.forEach((key, value) -> addDifferences(path.isEmpty() ? "" + key : path + "." + key,
          value, now instanceof Map<?, ?> map ? map.get(key) : null, found));
    } else if (!isSame(set, now)) {
      found.add(path);
    }
  }

  /** Whether two patches set a field to different values, so that no object can have both. */
  static boolean contradict(Map<?, ?> one, Map<?, ?> other) {
    return one.entrySet().stream().filter(field -> other.containsKey(field.getKey()))
        .anyMatch(field -> {
          var a = field.getValue();
          var b = other.get(field.getKey());
          if (a instanceof Map<?, ?> fields && b instanceof Map<?, ?> others) {
            return contradict(fields, others);
          }
          var found = new ArrayList<String>();
          if (b instanceof Map) {
            addDifferences("", b, a, found);
          } else {
            addDifferences("", a, b, found);
          }
          return !found.isEmpty();
        });
  }

  private static boolean isSame(@Nullable Object a, @Nullable Object b) {
    if (a instanceof Number x && b instanceof Number y) {
      // 1 and 1.0 are one number, which the API may write in either form.
      return new BigDecimal(x.toString()).compareTo(new BigDecimal(y.toString())) == 0;
    }
    if (a instanceof List<?> x && b instanceof List<?> y) {
      return x.size() == y.size()
          && IntStream.range(0, x.size()).allMatch(i -> isSame(x.get(i), y.get(i)));
    }
    if (a instanceof Map<?, ?> x && b instanceof Map<?, ?> y) {
      return x.keySet().equals(y.keySet())
          && x.keySet().stream().allMatch(key -> isSame(x.get(key), y.get(key)));
    }
    return Objects.equals(a, b);
  }
}
