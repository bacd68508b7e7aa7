package dev.activator.kube.decode;

import dev.activator.kube.informer.VersionedObject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;

/**
 * A kind of Kubernetes objects that the activator watches: its path in the API, and its decoder.
 *
 * <p><b>Errors.</b> A malformed object has an {@link ObjectDecodeResult#problem}; invalid JSON
 * throws a {@link tools.jackson.core.JacksonException}.
 */
public final class WatchedKind<F> {
  private final String name;
  private final String groupPath;
  private final String plural;
  private final Supplier<? extends WatchedObjectReader<F>> readers;
  private final History<F> history;

  /** Adds values to a decoded object that depend on earlier versions of it. */
  public interface History<F> {
    F added(F now, @Nullable F before, String version);
  }

  /**
   * @param groupPath the path of the API group's version, without slashes at its ends
   * @param readers makes a reader for each object
   */
  public WatchedKind(String name, String groupPath, String plural,
      Supplier<? extends WatchedObjectReader<F>> readers) {
    this(name, groupPath, plural, readers, (now, _, _) -> now);
  }

  public WatchedKind(String name, String groupPath, String plural,
      Supplier<? extends WatchedObjectReader<F>> readers, History<F> history) {
    this.name = name;
    this.groupPath = groupPath;
    this.plural = plural;
    this.readers = readers;
    this.history = history;
  }

  public String name() {
    return name;
  }

  /** The path of the API group's version, without slashes at its ends. */
  public String groupPath() {
    return groupPath;
  }

  public String plural() {
    return plural;
  }

  /**
   * Decodes one object.
   *
   * @param parser is at the start of the object, and afterwards at its end
   */
  public VersionedObject<ObjectDecodeResult<F>> decode(JsonParser parser) {
    var remarks = new ArrayList<String>(0);
    var in = new JsonCursor(parser, remarks);
    var metadata = new DecodedMetadata();
    var reader = readers.get();
    for (var field : in.rootFields()) {
      switch (field) {
        case "metadata" -> metadata.read(in);
        case "kind" -> requireKind(in);
        default -> reader.field(field, in);
      }
    }
    return new VersionedObject<>(metadata.key(), metadata.uid(), metadata.resourceVersion(),
        decoded(metadata, reader, in, remarks));
  }

  /**
   * The object to store. If it is malformed, it keeps the last valid value, unless it was created
   * again.
   */
  public VersionedObject<ObjectDecodeResult<F>> stored(
      @Nullable VersionedObject<ObjectDecodeResult<F>> before,
      VersionedObject<ObjectDecodeResult<F>> seen) {
    var now = seen.object();
    var known = before == null || !before.uid().equals(seen.uid()) ? null : before.object().value();
    var value = now.value();
    if (now.problem() != null) {
      value = known;
    } else if (value != null) {
      value = history.added(value, known, seen.resourceVersion());
    }
    return value == now.value()
        ? seen
        : new VersionedObject<>(seen.key(), seen.uid(), seen.resourceVersion(), now.with(value));
  }

  /** Checks the kind, which watch events contain, but not the items of a list. */
  private void requireKind(JsonCursor in) {
    var claimed = in.anyText();
    if (!claimed.equals(name)) {
      in.problem("it is a " + claimed);
    }
  }

  private ObjectDecodeResult<F> decoded(DecodedMetadata metadata, WatchedObjectReader<F> reader,
      JsonCursor in,
      List<String> remarks) {
    if (!reader.concerns(metadata)) {
      return new ObjectDecodeResult<>(null, null, List.of());
    }
    for (var missing : missing(metadata)) {
      in.problem("metadata." + missing + " is missing");
    }
    var value = in.problem() == null ? reader.decoded(metadata, in) : null;
    return new ObjectDecodeResult<>(in.problem() == null ? value : null, in.problem(),
        List.copyOf(remarks));
  }

  private static List<String> missing(DecodedMetadata metadata) {
    var missing = new ArrayList<String>(0);
    if (metadata.name().isEmpty()) {
      missing.add("name");
    }
    if (metadata.namespace().isEmpty()) {
      missing.add("namespace");
    }
    return missing;
  }
}
