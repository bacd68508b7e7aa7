package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.ApiStore.MissingNamespace;
import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.ObjectWrites.ManagedFieldsUpdater;
import dev.activator.embedded.api.store.ObjectWrites.Deletion;
import dev.activator.embedded.api.store.ObjectWrites.DeleteOptions;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates, updates and deletes objects in the store. A write that changes nothing is not committed.
 *
 * <p><b>Threads.</b> Guarded by the store's lock. Objects are not copied: the caller must not change
 * one after it is stored, or one that is returned.
 */
final class ObjectCommitter {
  private static final int NAME_TRIES = 8;

  private final InMemoryStorage storage;
  private final ObjectDeleter deleter;
  private final ObjectMetaGenerator identities;
  private final MissingNamespace missingNamespace;

  ObjectCommitter(InMemoryStorage storage, KindRegistry kinds, ObjectMetaGenerator identities,
      MissingNamespace missingNamespace) {
    this.storage = storage;
    this.deleter = new ObjectDeleter(storage, kinds, identities);
    this.identities = identities;
    this.missingNamespace = missingNamespace;
  }

  @Nullable ObjectNode find(Kind kind, String namespace, String name) {
    return storage.find(kind, ObjectMeta.key(kind.namespaced() ? namespace : "", name));
  }

  ObjectNode insert(Kind kind, ObjectNode object, ManagedFieldsUpdater fields) {
    return insert(kind, object, fields, missingNamespace);
  }

  ObjectNode insert(Kind kind, ObjectNode object, ManagedFieldsUpdater fields,
      MissingNamespace missing) {
    name(kind, object);
    var stored = find(kind, ObjectMeta.namespace(object), ObjectMeta.name(object));
    if (stored != null) {
      throw ObjectMeta.terminating(stored)
          ? StatusException.beingDeleted(kind, ObjectMeta.name(stored))
          : StatusException.alreadyExists(kind, ObjectMeta.name(stored));
    }
    if (kind.namespaced()) {
      NamespaceLifecycle.checkOpen(namespaceOf(object, missing), kind, object);
    }
    if (kind.equals(BuiltInKinds.NAMESPACE)) {
      NamespaceLifecycle.complete(object);
    }
    identify(kind, object);
    fields.track(null, object);
    return put(kind, object);
  }

  ObjectNode replace(Kind kind, ObjectNode wanted, ManagedFieldsUpdater fields) {
    ObjectRules.named(kind, wanted);
    var stored = find(kind, ObjectMeta.namespace(wanted), ObjectMeta.name(wanted));
    if (stored == null && kind.has(Trait.CREATED_BY_UPDATE)) {
      ObjectRules.stripped(wanted);
      return insert(kind, wanted, fields);
    }
    if (stored == null) {
      throw StatusException.notFound(kind, ObjectMeta.name(wanted));
    }
    var next = ObjectUpdateRules.whole(kind, stored, wanted);
    fields.track(stored, next);
    return store(kind, stored, next);
  }

  ObjectNode replaceStatus(Kind kind, ObjectNode wanted, ManagedFieldsUpdater fields) {
    var stored = existing(kind, ObjectMeta.namespace(wanted), ObjectMeta.name(wanted));
    var next = ObjectUpdateRules.status(kind, stored, wanted);
    fields.track(stored, next);
    return store(kind, stored, next);
  }

  Deletion delete(Kind kind, String namespace, String name, DeleteOptions options) {
    var stored = existing(kind, namespace, name);
    options.preconditions().check(kind, stored);
    return deleter.delete(kind, stored, options);
  }

  void ensureNamespace(String name) {
    if (find(BuiltInKinds.NAMESPACE, "", name) == null) {
      insert(BuiltInKinds.NAMESPACE, NamespaceLifecycle.named(name), ManagedFieldsUpdater.NONE);
    }
  }

  private ObjectNode namespaceOf(ObjectNode object, MissingNamespace missing) {
    String name = ObjectMeta.namespace(object);
    var stored = find(BuiltInKinds.NAMESPACE, "", name);
    if (stored != null) {
      return stored;
    }
    if (missing == MissingNamespace.REFUSED) {
      throw StatusException.notFound(BuiltInKinds.NAMESPACE, name);
    }
    return insert(BuiltInKinds.NAMESPACE, NamespaceLifecycle.named(name),
        ManagedFieldsUpdater.NONE);
  }

  private ObjectNode store(Kind kind, ObjectNode stored, ObjectNode next) {
    if (deleter.finished(kind, next)) {
      deleter.remove(kind, stored);
      return next;
    }
    return Json.same(stored, next) ? stored : put(kind, next);
  }

  private ObjectNode put(Kind kind, ObjectNode object) {
    ObjectRules.writable(object);
    return storage.put(kind, object);
  }

  private ObjectNode existing(Kind kind, String namespace, String name) {
    var stored = find(kind, namespace, name);
    if (stored == null) {
      throw StatusException.notFound(kind, name);
    }
    return stored;
  }

  private void name(Kind kind, ObjectNode object) {
    String base = object.path("metadata").path("generateName").stringValue("");
    if (ObjectMeta.name(object).isEmpty() && !base.isEmpty()) {
      ObjectMeta.of(object).put("name", freeName(kind, ObjectMeta.namespace(object), base));
    }
    ObjectRules.named(kind, object);
  }

  private String freeName(Kind kind, String namespace, String base) {
    for (int i = 0; i < NAME_TRIES; i++) {
      String name = identities.nameFrom(base);
      if (find(kind, namespace, name) == null) {
        return name;
      }
    }
    throw StatusException.noFreeName(kind, base);
  }

  private void identify(Kind kind, ObjectNode object) {
    var metadata = ObjectMeta.of(object);
    metadata.put("uid", identities.uid()).put("creationTimestamp", identities.now());
    if (kind.has(Trait.GENERATION)) {
      metadata.put("generation", 1);
    }
  }
}
