package dev.activator.kube.decode;

import org.jspecify.annotations.Nullable;

/** Decodes the JSON of one watched object into the project's own record of it. */
public interface WatchedObjectReader<F> {
  /** Reads a field. Called for each field except the metadata, in the order of the text. */
  void field(String name, JsonCursor in);

  default boolean concerns(DecodedMetadata metadata) {
    return true;
  }

  /** The decoded object; null if it is irrelevant. Called last, if there was no problem. */
  @Nullable F decoded(DecodedMetadata metadata, JsonCursor in);
}
