package dev.activator.revision;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How to find out whether a container takes requests, where no queue-proxy stands in front of it.
 *
 * @param path of a {@code GET} that a ready container answers with 200 to 399; null where a TCP
 *     connection is enough
 * @param headers sent with the {@code GET}
 */
public record ContainerProbe(@Nullable String path, Map<String, String> headers) {
  /** A TCP connection is enough. */
  public static final ContainerProbe TCP = new ContainerProbe(null, Map.of());

  public ContainerProbe {
    headers = Map.copyOf(headers);
    if (path != null && !isPath(path)) {
      throw new IllegalArgumentException("not a path: " + path);
    }
  }

  /** A {@code GET} of this path. */
  public static ContainerProbe http(String path) {
    return new ContainerProbe(path, Map.of());
  }

  /** Whether the text can be sent as the path of a request as it is. */
  public static boolean isPath(String text) {
    return text.startsWith("/") && text.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#');
  }
}
