package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.Json;

/** What readers of a cache are told when it cannot serve them. */
final class Failures {
  private Failures() {}

  static ApiException tooOld(long asked, long oldest) {
    return expired("too old resource version: %d (%d)".formatted(asked, oldest));
  }

  static ApiException listTooOld() {
    return expired("The resourceVersion for the provided list is too old.");
  }

  static ApiException tooNew(long asked, long current) {
    var details = Json.object();
    details.putArray("causes").addObject().put("reason", "ResourceVersionTooLarge").put("message",
        "Too large resource version");
    details.put("retryAfterSeconds", 1);
    return new ApiException(504, "Timeout",
        "Timeout: Too large resource version: %d, current: %d".formatted(asked, current), details);
  }

  static ApiException notReady(int retryAfterSeconds) {
    return new ApiException(429, "TooManyRequests", "storage is (re)initializing",
        Json.object().put("retryAfterSeconds", retryAfterSeconds));
  }

  static ApiException notInitialized() {
    return ApiException.internal("the watch cache has no state to begin with");
  }

  private static ApiException expired(String message) {
    return new ApiException(410, "Expired", message, Json.object());
  }
}
