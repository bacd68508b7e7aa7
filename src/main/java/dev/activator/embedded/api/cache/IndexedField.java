package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.policy.LabelSelector.In;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.revision.KnownLabels;
import java.util.List;
import java.util.Map;

/**
 * A label or field with an index. Objects, and watches that select by it, are found without a scan.
 */
public record IndexedField(Source source, String name) {
  enum Source {
    LABEL,
    FIELD
  }

  private static final List<IndexedField> BY_REVISION = List
      .of(label(KnownLabels.REVISION));
  private static final Map<Kind, List<IndexedField>> BY_KIND = Map.of(
      BuiltInKinds.POD, List.of(field("spec.nodeName"), label(KnownLabels.REVISION)),
      BuiltInKinds.ENDPOINTS, BY_REVISION,
      BuiltInKinds.ENDPOINT_SLICE,
      List.of(label(KnownLabels.SLICE_SERVICE), label(KnownLabels.REVISION)),
      BuiltInKinds.EVENT, List.of(field("involvedObject.name")));

  public static IndexedField label(String name) {
    return new IndexedField(Source.LABEL, name);
  }

  public static IndexedField field(String path) {
    return new IndexedField(Source.FIELD, path);
  }

  public static List<IndexedField> of(Kind kind) {
    return BY_KIND.getOrDefault(kind, List.of());
  }

  public String valueOf(WatchCacheObject object) {
    var values = source == Source.LABEL ? object.labels() : object.fields();
    return values.getOrDefault(name, "");
  }

  /** The value that the selection requires; empty if it does not require one. */
  public String valueIn(ObjectSelection selection) {
    return source == Source.LABEL ? labelIn(selection) : selection.field(name);
  }

  private String labelIn(ObjectSelection selection) {
    for (var requirement : selection.labels().requirements()) {
      if (requirement instanceof In(var key, var values) && key.equals(name)
          && values.size() == 1) {
        return values.iterator().next();
      }
    }
    return "";
  }
}
