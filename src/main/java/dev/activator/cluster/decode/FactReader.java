package dev.activator.cluster.decode;

import org.jspecify.annotations.Nullable;

/** Extracts the fact of one object; a new reader for each. */
interface FactReader<F> {
  /** Any field except the metadata, in the order of the text; what is not read is skipped. */
  void field(String name, JsonCursor in);

  /** Whether an object with this metadata is relevant. */
  default boolean concerns(Metadata metadata) {
    return true;
  }

  /** Called after all fields if there was no problem; null if the object has no fact. */
  @Nullable F fact(Metadata metadata, JsonCursor in);
}
