package dev.activator.revision;

import java.util.Map;

/**
 * A response that a user wrote, without a pod.
 *
 * @param headers except those that frame the body
 */
public record FixedResponse(int status, Map<String, String> headers, String body) {
  public FixedResponse {
    headers = Map.copyOf(headers);
  }

  /** No content. */
  public static FixedResponse ok() {
    return new FixedResponse(200, Map.of("Content-Type", "text/plain; charset=utf-8"), "");
  }
}
