package dev.activator.embedded.api;

import dev.activator.embedded.api.Deletion.Outcome;
import dev.activator.embedded.api.Kind.Trait;
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

  private final Tables tables;
  private final Identities identities;

  ObjectWriter(Tables tables, Identities identities) {
    this.tables = tables;
    this.identities = identities;
  }

  @Nullable ObjectNode find(Kind kind, String namespace, String name) {
    return tables.find(kind, Meta.key(kind.namespaced() ? namespace : "", name));
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
      ensureNamespace(Meta.namespace(object));
    }
    identify(kind, object);
    return tables.put(kind, object);
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
    if (!Meta.hasFinalizers(stored)) {
      return new Deletion(tables.remove(kind, stored), Outcome.GONE);
    }
    var waiting = Meta.terminating(stored)
        ? stored
        : tables.put(kind, Updates.terminating(stored, identities.now()));
    return new Deletion(waiting, Outcome.WAITS_FOR_FINALIZERS);
  }

  /** Makes the namespace, unless it is there. */
  void ensureNamespace(String name) {
    if (find(Kinds.NAMESPACE, "", name) != null) {
      return;
    }
    var namespace = Json.object().put("apiVersion", "v1").put("kind", "Namespace");
    namespace.putObject("metadata").put("name", name).putObject("labels")
        .put("kubernetes.io/metadata.name", name);
    namespace.putObject("spec");
    namespace.putObject("status").put("phase", "Active");
    identify(Kinds.NAMESPACE, namespace);
    tables.put(Kinds.NAMESPACE, namespace);
  }

  private ObjectNode store(Kind kind, ObjectNode stored, ObjectNode next) {
    if (Meta.terminating(next) && !Meta.hasFinalizers(next)) {
      tables.remove(kind, stored);
      return next;
    }
    return Json.same(stored, next) ? stored : tables.put(kind, next);
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
    String name = identities.nameFrom(base);
    for (int i = 1; i < NAME_TRIES && find(kind, namespace, name) != null; i++) {
      name = identities.nameFrom(base);
    }
    return name;
  }

  private void identify(Kind kind, ObjectNode object) {
    var metadata = Meta.of(object);
    metadata.put("uid", identities.uid()).put("creationTimestamp", identities.now());
    if (kind.has(Trait.GENERATION)) {
      metadata.put("generation", 1);
    }
  }
}
