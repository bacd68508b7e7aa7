package dev.activator.ext.asleep.policy;

import dev.activator.config.ConfigValue;
import dev.activator.config.Quantity;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * The resources that each container of a pod that is shrunk has at most.
 *
 * @param requests by {@code cpu} and {@code memory}
 * @param limits the same
 * @param timeout how long a node may take to give back what a pod had
 */
public record ShrinkSpec(Map<String, String> requests, Map<String, String> limits,
    Duration timeout) {
  public static final ShrinkSpec NONE = new ShrinkSpec(Map.of(), Map.of(),
      Duration.ofSeconds(10));
  /**
   * How long a node may take to shrink a pod, while requests wait. No node puts that off, but none takes
   * memory that is in use.
   */
  private static final Duration MAX_SHRINK_TIME = Duration.ofSeconds(3);
  private static final int MAX_LENGTH = 64;
  private static final int MAX_SECONDS = 600;

  public ShrinkSpec {
    requests = Map.copyOf(requests);
    limits = Map.copyOf(limits);
  }

  /** @throws IllegalArgumentException a sentence with the part that is invalid */
  static ShrinkSpec read(ConfigValue spec) {
    if (spec.isAbsent()) {
      return NONE;
    }
    spec.object("requests", "limits", "timeoutSeconds");
    var requests = quantities(spec.field("requests"));
    var limits = quantities(spec.field("limits"));
    requests.forEach((name, request) -> {
      var limit = limits.get(name);
      if (limit != null && Quantity.parse(limit).number()
          .compareTo(Quantity.parse(request).number()) < 0) {
        throw spec.field("limits").field(name).mustBe("at least the request, " + request);
      }
    });
    return new ShrinkSpec(requests, limits, Duration.ofSeconds(
        spec.field("timeoutSeconds").number(1, MAX_SECONDS, (int) NONE.timeout.toSeconds())));
  }

  private static Map<String, String> quantities(ConfigValue spec) {
    var all = new TreeMap<String, String>();
    if (!spec.isAbsent()) {
      spec.object("cpu", "memory");
      for (var name : new String[]{"cpu", "memory"}) {
        var field = spec.field(name);
        if (!field.isAbsent()) {
          all.put(name, quantity(field));
        }
      }
    }
    return all;
  }

  private static String quantity(ConfigValue field) {
    var text = field.value() instanceof Number number ? number.toString() : field.text(MAX_LENGTH);
    if (text == null || !Quantity.isOne(text)
        || Quantity.parse(text).number().signum() <= 0) {
      throw field.mustBe("a quantity over 0, such as 1m or 64Mi");
    }
    return text;
  }

  /** How long a node may take to shrink them. */
  public Duration shrinkTimeout() {
    return timeout.compareTo(MAX_SHRINK_TIME) < 0 ? timeout : MAX_SHRINK_TIME;
  }

  boolean isEmpty() {
    return requests.isEmpty() && limits.isEmpty();
  }
}
