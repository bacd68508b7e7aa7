package dev.activator.cluster.decode;

/** An object is not as its kind says. The message names the field and what is there. */
final class MalformedException extends RuntimeException {
  MalformedException(String message) {
    super(message);
  }
}
