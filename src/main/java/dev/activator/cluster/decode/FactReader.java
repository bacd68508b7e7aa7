package dev.activator.cluster.decode;

import org.jspecify.annotations.Nullable;

/** Reads the fact of one object. */
interface FactReader<F> {
  /** Any field except the metadata, in the order of the text. */
  void field(String name, JsonCursor in);

  default boolean concerns(Metadata metadata) {
    return true;
  }

  /** Called last, if there was no problem; null if there is no fact. */
  @Nullable F fact(Metadata metadata, JsonCursor in);
}
