package dev.activator.kube.policy;

import java.util.Comparator;
import java.util.regex.Pattern;

/**
 * A Kubernetes version without suffixes. It is used to compare the API server's version with the
 * oldest supported one, of which a pre-release is sufficient.
 *
 * <p><b>Source.</b> {@code knative.dev/pkg/version}.
 */
public record KubernetesVersion(int major, int minor,
    int patch) implements Comparable<KubernetesVersion> {
  private static final Pattern FORM = Pattern
      .compile("v?(\\d{1,9})\\.(\\d{1,9})(?:\\.(\\d{1,9}))?(?:[-+].*)?");
  private static final Comparator<KubernetesVersion> ORDER = Comparator
      .comparingInt(KubernetesVersion::major).thenComparingInt(KubernetesVersion::minor)
      .thenComparingInt(KubernetesVersion::patch);

  /** @throws IllegalArgumentException if the text is not like {@code v1.34.2-gke.100} */
  public static KubernetesVersion parse(String text) {
    var match = FORM.matcher(text.strip());
    if (!match.matches()) {
      throw new IllegalArgumentException("not a version of Kubernetes: '" + text + "'");
    }
    var patch = match.group(3);
    return new KubernetesVersion(Integer.parseInt(match.group(1)),
        Integer.parseInt(match.group(2)), patch == null ? 0 : Integer.parseInt(patch));
  }

  public boolean isAtLeast(KubernetesVersion minimum) {
    return compareTo(minimum) >= 0;
  }

  @Override
  public int compareTo(KubernetesVersion other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return "v" + major + "." + minor + "." + patch;
  }
}
