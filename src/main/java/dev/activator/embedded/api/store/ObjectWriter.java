package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.Deletion.Outcome;
import dev.activator.embedded.api.store.Kind.Trait;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes one object: checks it against what is stored, and commits it if it changes anything.
 *
 * <p>
 * <b>Threads.</b> Guarded by the store's lock. It keeps the trees it is given, and returns stored
 * ones: its owner copies both ways.
 */
final class ObjectWriter {
  private static final int NAME_TRIES = 8;

  private final Storage storage;
  private final Contents contents;
  private final Identities identities;
  private final MissingNamespace missingNamespace;

  ObjectWriter(Storage storage, KindRegistry kinds, Identities identities,
      MissingNamespace missingNamespace) {
    this.storage = storage;
    this.contents = new Contents(storage, kinds);
    this.identities = identities;
    this.missingNamespace = missingNamespace;
  }

  @Nullable ObjectNode find(Kind kind, String namespace, String name) {
    return storage.find(kind, Meta.key(kind.namespaced() ? namespace : "", name));
  }

  ObjectNode insert(Kind kind, ObjectNode object) {
    name(kind, object);
    var stored = find(kind, Meta.namespace(object), Meta.name(object));
    if (stored != null) {
      throw Meta.terminating(stored)
          ? ApiException.beingDeleted(kind, Meta.name(stored))
          : ApiException.alreadyExists(kind, Meta.name(stored));
    }
    if (kind.namespaced()) {
      Namespaces.checkOpen(namespaceOf(object), kind, object);
    }
    if (kind.equals(Kinds.NAMESPACE)) {
      Namespaces.complete(object);
    }
    identify(kind, object);
    return put(kind, object);
  }

  ObjectNode replace(Kind kind, ObjectNode wanted) {
    ObjectRules.named(kind, wanted);
    var stored = find(kind, Meta.namespace(wanted), Meta.name(wanted));
    if (stored == null && kind.has(Trait.CREATED_BY_UPDATE)) {
      ObjectRules.stripped(wanted);
      return insert(kind, wanted);
    }
    if (stored == null) {
      throw ApiException.notFound(kind, Meta.name(wanted));
    }
    return store(kind, stored, Updates.whole(kind, stored, wanted));
  }

  ObjectNode replaceStatus(Kind kind, ObjectNode wanted) {
    var stored = existing(kind, Meta.namespace(wanted), Meta.name(wanted));
    return store(kind, stored, Updates.status(kind, stored, wanted));
  }

  Deletion delete(Kind kind, String namespace, String name, Preconditions preconditions) {
    var stored = existing(kind, namespace, name);
    preconditions.check(kind, stored);
    if (kind.equals(Kinds.NAMESPACE)) {
      Namespaces.checkMortal(name);
      return deleteWithContents(kind, stored);
    }
    if (!contents.none(kind, stored)) {
      return deleteWithContents(kind, stored);
    }
    var deletion = deleteAlone(kind, stored);
    settleHoldersOf(kind, stored);
    return deletion;
  }

  /** Makes the namespace, unless it is there. */
  void ensureNamespace(String name) {
    if (find(Kinds.NAMESPACE, "", name) == null) {
      insert(Kinds.NAMESPACE, Namespaces.named(name));
    }
  }

  private ObjectNode namespaceOf(ObjectNode object) {
    String name = Meta.namespace(object);
    var stored = find(Kinds.NAMESPACE, "", name);
    if (stored != null) {
      return stored;
    }
    if (missingNamespace == MissingNamespace.REFUSED) {
      throw ApiException.notFound(Kinds.NAMESPACE, name);
    }
    return insert(Kinds.NAMESPACE, Namespaces.named(name));
  }

  private ObjectNode store(Kind kind, ObjectNode stored, ObjectNode next) {
    if (Meta.terminating(next) && !Meta.hasFinalizers(next) && contents.none(kind, next)) {
      storage.remove(kind, stored);
      settleHoldersOf(kind, stored);
      return next;
    }
    return Json.same(stored, next) ? stored : put(kind, next);
  }

  private ObjectNode put(Kind kind, ObjectNode object) {
    ObjectRules.writable(object);
    return storage.put(kind, object);
  }

  private Deletion deleteAlone(Kind kind, ObjectNode stored) {
    return Meta.hasFinalizers(stored)
        ? new Deletion(mark(kind, stored), Outcome.WAITS)
        : new Deletion(storage.remove(kind, stored), Outcome.GONE);
  }

  /** Marks the holder first, so that nothing new comes while what it holds goes. */
  private Deletion deleteWithContents(Kind kind, ObjectNode stored) {
    var marked = mark(kind, stored);
    for (var item : contents.of(kind, marked)) {
      deleteAlone(item.kind(), item.object());
    }
    // What it held may have been the last of other holders, too.
    for (var holders : new Kind[]{Kinds.NAMESPACE, Kinds.CUSTOM_RESOURCE_DEFINITION}) {
      storage.list(holders).forEach(holder -> settle(holders, holder));
    }
    return new Deletion(marked, Outcome.WAITS);
  }

  private ObjectNode mark(Kind kind, ObjectNode stored) {
    return Meta.terminating(stored)
        ? stored
        : put(kind, Updates.terminating(kind, stored, identities.now()));
  }

  private void settleHoldersOf(Kind kind, ObjectNode object) {
    if (kind.namespaced()) {
      settle(Kinds.NAMESPACE, find(Kinds.NAMESPACE, "", Meta.namespace(object)));
    }
    settle(Kinds.CUSTOM_RESOURCE_DEFINITION,
        find(Kinds.CUSTOM_RESOURCE_DEFINITION, "", kind.resource()));
  }

  /** Takes out a holder that was deleted, once it holds nothing more. */
  private void settle(Kind kind, @Nullable ObjectNode holder) {
    if (holder != null && Meta.terminating(holder) && !Meta.hasFinalizers(holder)
        && contents.none(kind, holder)) {
      storage.remove(kind, holder);
    }
  }

  private ObjectNode existing(Kind kind, String namespace, String name) {
    var stored = find(kind, namespace, name);
    if (stored == null) {
      throw ApiException.notFound(kind, name);
    }
    return stored;
  }

  private void name(Kind kind, ObjectNode object) {
    String base = object.path("metadata").path("generateName").stringValue("");
    if (Meta.name(object).isEmpty() && !base.isEmpty()) {
      Meta.of(object).put("name", freeName(kind, Meta.namespace(object), base));
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
    throw ApiException.noFreeName(kind, base);
  }

  private void identify(Kind kind, ObjectNode object) {
    var metadata = Meta.of(object);
    metadata.put("uid", identities.uid()).put("creationTimestamp", identities.now());
    if (kind.has(Trait.GENERATION)) {
      metadata.put("generation", 1);
    }
  }
}
