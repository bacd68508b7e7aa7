package dev.activator.embedded.api.store;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** What a server knows after a restart. */
public enum Restart {
  /** All objects as they were; revisions go on far above where they were. */
  SAME_DATA,
  /** No objects; revisions go on far above where they were. */
  EMPTY,
  /** All objects, with revisions from 1: no right server does this, and clients cannot tell. */
  LOWER_REVISIONS;

  /** Between the revisions of one run and the next, should the clock stand still. */
  private static final long EPOCH = 1_000_000;

  /** Changes the store so; nobody who follows it is told. */
  public void of(ApiStore store) {
    var tables = store.tables();
    long later = Math.max(tables.revision() + EPOCH, store.now().toEpochMilli() * 1000);
    switch (this) {
      case SAME_DATA -> tables.revision(later);
      case EMPTY -> {
        var namespaces = List.of("default", "kube-system", "knative-serving");
        store.list(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION)
            .forEach(definition -> store.kinds().remove(CrdReader.defined(definition)));
        tables.byKind().clear();
        tables.revision(later);
        namespaces
            .forEach(name -> store.create(BuiltInKinds.NAMESPACE, NamespaceLifecycle.named(name)));
      }
      case LOWER_REVISIONS -> renumber(tables);
    }
  }

  /** Gives all objects revisions from 1, in the order of those they have. */
  private static void renumber(InMemoryStorage.Tables tables) {
    record Entry(Kind kind, ObjectNode object) {}
    var all = new ArrayList<Entry>();
    tables.byKind().forEach((kind, objects) -> objects.values()
        .forEach(object -> all.add(new Entry(kind, object.deepCopy()))));
    all.sort(Comparator.comparingLong(entry -> ObjectMeta.revision(entry.object())));
    long revision = 0;
    for (var entry : all) {
      revision++;
      ObjectMeta.of(entry.object()).put("resourceVersion", Long.toString(revision));
      tables.byKind().get(entry.kind()).put(ObjectMeta.key(entry.object()), entry.object());
    }
    tables.revision(revision);
  }
}
