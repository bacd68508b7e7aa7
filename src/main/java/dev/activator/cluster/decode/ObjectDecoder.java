package dev.activator.cluster.decode;

import org.jspecify.annotations.Nullable;

/** Decodes the JSON of one watched object into the project's own record of it. */
interface ObjectDecoder<F> {
  /** Any field except the metadata, in the order of the text. */
  void field(String name, JsonCursor in);

  default boolean concerns(DecodedMetadata metadata) {
    return true;
  }

  /** Called last, if there was no problem; null if there is no fact. */
  @Nullable F fact(DecodedMetadata metadata, JsonCursor in);
}
