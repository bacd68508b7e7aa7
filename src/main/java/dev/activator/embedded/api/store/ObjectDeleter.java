package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.ObjectWrites.Deletion.Outcome;
import dev.activator.embedded.api.store.ObjectWrites.Deletion;
import dev.activator.embedded.api.store.ObjectWrites.DeleteOptions;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Deletes objects. Two kinds contain other objects: a namespace is deleted only after the objects
 * in it, and a CustomResourceDefinition only after the objects of its kind.
 *
 * <p><b>Threads.</b> Guarded by the store's lock.
 */
final class ObjectDeleter {
  private final InMemoryStorage storage;
  private final KindRegistry kinds;
  private final ObjectMetaGenerator identities;

  private record ContainedObject(Kind kind, ObjectNode object) {}

  ObjectDeleter(InMemoryStorage storage, KindRegistry kinds, ObjectMetaGenerator identities) {
    this.storage = storage;
    this.kinds = kinds;
    this.identities = identities;
  }

  Deletion delete(Kind kind, ObjectNode found, DeleteOptions options) {
    var stored = ObjectUpdateRules.propagating(found, options.propagation());
    if (kind.equals(BuiltInKinds.NAMESPACE)) {
      NamespaceLifecycle.checkMortal(ObjectMeta.name(stored));
    }
    if (kind.equals(BuiltInKinds.NAMESPACE) || !empty(kind, stored)) {
      return deleteWithContents(kind, stored);
    }
    var deletion = deleteAlone(kind, stored, ObjectUpdateRules.graceSeconds(kind, stored, options));
    finishContainersOf(kind, stored);
    return deletion;
  }

  void remove(Kind kind, ObjectNode stored) {
    storage.remove(kind, stored);
    finishContainersOf(kind, stored);
  }

  boolean finished(Kind kind, ObjectNode object) {
    return ObjectMeta.terminating(object) && !ObjectMeta.hasFinalizers(object)
        && object.at("/metadata/deletionGracePeriodSeconds").asLong(0) == 0 && empty(kind, object);
  }

  private Deletion deleteAlone(Kind kind, ObjectNode stored, long graceSeconds) {
    return graceSeconds > 0 || ObjectMeta.hasFinalizers(stored)
        ? new Deletion(mark(kind, stored, graceSeconds), Outcome.WAITS)
        : new Deletion(storage.remove(kind, stored), Outcome.GONE);
  }

  /**
   * Deletes an object and its contents. It is marked first, so that no new object is created in it.
   */
  private Deletion deleteWithContents(Kind kind, ObjectNode stored) {
    var marked = mark(kind, stored, 0);
    contents(kind, marked).toList().forEach(item -> deleteAlone(item.kind(), item.object(),
        ObjectUpdateRules.graceSeconds(item.kind(), item.object(), DeleteOptions.NONE)));
    // The objects may have been the last contents of other namespaces or definitions.
    for (var containerKind : new Kind[]{BuiltInKinds.NAMESPACE,
        BuiltInKinds.CUSTOM_RESOURCE_DEFINITION}) {
      storage.list(containerKind).forEach(container -> finishIfEmpty(containerKind, container));
    }
    return new Deletion(marked, Outcome.WAITS);
  }

  private ObjectNode mark(Kind kind, ObjectNode stored, long graceSeconds) {
    var marked = ObjectUpdateRules.terminating(kind, stored, identities.now(graceSeconds),
        graceSeconds);
    if (marked.equals(storage.find(kind, ObjectMeta.key(stored)))) {
      return stored;
    }
    ObjectRules.writable(marked);
    return storage.put(kind, marked);
  }

  private void finishContainersOf(Kind kind, ObjectNode object) {
    if (kind.namespaced()) {
      finishIfEmpty(BuiltInKinds.NAMESPACE,
          storage.find(BuiltInKinds.NAMESPACE, ObjectMeta.namespace(object)));
    }
    finishIfEmpty(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION,
        storage.find(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION, kind.resource()));
  }

  private void finishIfEmpty(Kind kind, @Nullable ObjectNode container) {
    if (container != null && finished(kind, container)) {
      storage.remove(kind, container);
    }
  }

  private boolean empty(Kind kind, ObjectNode container) {
    return contents(kind, container).findAny().isEmpty();
  }

  /** The contents of an object; empty unless it is a namespace or a CustomResourceDefinition. */
  private Stream<ContainedObject> contents(Kind kind, ObjectNode container) {
    String name = ObjectMeta.name(container);
    if (kind.equals(BuiltInKinds.NAMESPACE)) {
      return kinds.all().stream().filter(Kind::namespaced)
          .flatMap(
              contained -> items(contained, object -> ObjectMeta.namespace(object).equals(name)));
    }
    if (kind.equals(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION)) {
      return kinds.all().stream()
          .filter(defined -> defined.resource().equals(name)
              && !BuiltInKinds.all().contains(defined))
          .flatMap(defined -> items(defined, _ -> true));
    }
    return Stream.empty();
  }

  private Stream<ContainedObject> items(Kind kind, Predicate<ObjectNode> wanted) {
    return storage.list(kind).stream().filter(wanted)
        .map(object -> new ContainedObject(kind, object));
  }
}
