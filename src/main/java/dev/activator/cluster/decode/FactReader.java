package dev.activator.cluster.decode;

import org.jspecify.annotations.Nullable;

/**
 * Reads what one object means to us. Each object has a reader of its own, which is given its fields in
 * the order of the text and then asked for the fact.
 */
interface FactReader<F> {
  /** A field other than the metadata; what it does not read of it is skipped. */
  void field(String name, JsonCursor in);

  /** Whether an object with this metadata can mean anything to us. */
  default boolean concerns(Metadata metadata) {
    return true;
  }

  /** Once all fields were read without a problem; null if it means nothing. */
  @Nullable F fact(Metadata metadata, JsonCursor in);
}
