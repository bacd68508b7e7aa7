package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.policy.FieldSelector.Comparison;
import dev.activator.embedded.api.policy.FieldSelector;
import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.BuiltInKinds;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The selection of a list or a watch: a namespace, a label selector and a field selector. */
public record ObjectSelection(String namespace, LabelSelector labels, FieldSelector fields) {
  private static final List<String> SELECTABLE = List.of("metadata.name", "metadata.namespace");
  private static final Map<Kind, List<String>> MORE = Map.of(BuiltInKinds.EVENT,
      List.of("involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
          "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
          "involvedObject.fieldPath", "reason", "type"),
      BuiltInKinds.POD, List.of("status.phase", "spec.nodeName"), BuiltInKinds.SECRET,
      List.of("type"),
      BuiltInKinds.NAMESPACE, List.of("status.phase"));

  public static List<String> selectable(Kind kind) {
    var names = new ArrayList<>(SELECTABLE);
    names.addAll(MORE.getOrDefault(kind, List.of()));
    return names;
  }

  static Map<String, String> fieldsOf(Kind kind, JsonNode object) {
    var values = new TreeMap<String, String>();
    for (var name : selectable(kind)) {
      JsonNode node = object;
      for (var step : name.split("\\.", -1)) {
        node = node.path(step);
      }
      values.put(name, node.isValueNode() ? node.asString("") : "");
    }
    return values;
  }

  public String prefix() {
    return namespace.isEmpty() ? "" : namespace + "/";
  }

  /** The only name that is selected; empty if there are others. */
  public String name() {
    return field("metadata.name");
  }

  /** The only value of a field that is selected; empty if there are others. */
  String field(String path) {
    for (var term : fields.terms()) {
      if (term.field().equals(path) && term.comparison() == Comparison.EQUAL) {
        return term.value();
      }
    }
    return "";
  }

  /** Whether the selected objects can only be counted by a scan. */
  public boolean selective() {
    return !labels.requirements().isEmpty() || !fields.terms().isEmpty();
  }

  public boolean passes(WatchCacheObject object) {
    return object.key().startsWith(prefix()) && labels.matches(object.labels())
        && fields.matches(object.fields());
  }

  /**
   * The selected objects sorted by key, beginning with the first that is not before {@code from}.
   */
  public Iterator<WatchCacheObject> in(SortedObjects objects, String from) {
    return new Passing(objects.candidates(this, from), this);
  }

  /** The message for an event; null if this watch does not see it. */
  public WatchMessage.@Nullable Changed signalFor(WatchCacheEvent event) {
    var previous = event.previous();
    boolean before = previous != null && passes(previous);
    boolean now = event.type() != ApiStoreChange.Type.DELETED && passes(event.object());
    if (now) {
      return before ? event.modified() : event.added();
    }
    return before && previous != null ? event.gone(previous) : null;
  }

  private static final class Passing implements Iterator<WatchCacheObject> {
    private final Iterator<WatchCacheObject> all;
    private final ObjectSelection selection;
    private @Nullable WatchCacheObject next;

    Passing(Iterator<WatchCacheObject> all, ObjectSelection selection) {
      this.all = all;
      this.selection = selection;
      this.next = advance();
    }

    private @Nullable WatchCacheObject advance() {
      while (all.hasNext()) {
        var object = all.next();
        if (selection.passes(object)) {
          return object;
        }
      }
      return null;
    }

    @Override
    public boolean hasNext() {
      return next != null;
    }

    @Override
    public WatchCacheObject next() {
      var current = next;
      if (current == null) {
        throw new NoSuchElementException();
      }
      next = advance();
      return current;
    }
  }
}
