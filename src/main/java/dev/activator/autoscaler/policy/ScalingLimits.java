package dev.activator.autoscaler.policy;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * @param target concurrent requests per pod; positive
 * @param most positive, and not below {@code least}
 */
public record ScalingLimits(int target, int least, int most) {
  private static final int TARGET_WITHOUT_LIMIT = 100;
  private static final String GROUP = "autoscaling.knative.dev/";

  public ScalingLimits {
    if (target < 1 || least < 0 || most < Math.max(1, least)) {
      throw new IllegalArgumentException(
          "not limits: target " + target + ", least " + least + ", most " + most);
    }
  }

  /**
   * <b>Errors.</b> An annotation that is no whole number counts as absent, as does a maximum of 0.
   */
  public static ScalingLimits of(int containerConcurrency, Map<String, String> annotations,
      int mostByDefault) {
    int target = containerConcurrency > 0 ? containerConcurrency : TARGET_WITHOUT_LIMIT;
    int least = Math.max(0, number(annotations, "min-scale", "minScale"));
    int most = number(annotations, "max-scale", "maxScale");
    return new ScalingLimits(target, least, Math.max(least, most > 0 ? most : mostByDefault));
  }

  /** For a revision that a newer one has replaced: only requests give it pods. */
  public ScalingLimits withoutLeast() {
    return new ScalingLimits(target, 0, most);
  }

  /** At least so many, but no more than the most. */
  public ScalingLimits withLeast(int pods) {
    return new ScalingLimits(target, Math.max(least, Math.min(pods, most)), most);
  }

  int clamp(int pods) {
    return Math.clamp(pods, least, most);
  }

  /** 0 if absent or invalid. */
  private static int number(Map<String, String> annotations, String name, String oldName) {
    String text = first(annotations.get(GROUP + name), annotations.get(GROUP + oldName));
    try {
      return text == null ? 0 : Integer.parseInt(text.strip());
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static @Nullable String first(@Nullable String one, @Nullable String other) {
    return one != null ? one : other;
  }
}
