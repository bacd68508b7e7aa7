package dev.activator.embedded.api.store;

/** A patch that is well formed, but cannot be applied to this object. */
public final class PatchException extends RuntimeException {
  PatchException(String message) {
    super(message);
  }
}
