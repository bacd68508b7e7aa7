package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.ObjectWrites.DeleteOptions;
import dev.activator.embedded.api.store.ObjectWrites.Propagation;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The rules for updates: which fields a write may change, and which are kept.
 *
 * <p><b>Source.</b> {@code registry/rest/update.go} and {@code registry/generic/registry/store.go}
 * in Kubernetes' apiserver.
 */
final class ObjectUpdateRules {
  private static final List<String> KEPT = List.of("name", "namespace", "uid", "creationTimestamp",
      "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion");

  /** Kubernetes' is 30. */
  private static final long DEFAULT_GRACE_SECONDS = 3;

  private ObjectUpdateRules() {}

  /**
   * The object to store after an update, which is {@code wanted}. If nothing changes, it equals
   * {@code stored}, including the resourceVersion.
   */
  static ObjectNode whole(Kind kind, ObjectNode stored, ObjectNode wanted) {
    checkVersion(kind, stored, wanted);
    keep(stored, wanted, kind);
    if (ObjectMeta.terminating(stored)) {
      refuseNewFinalizers(stored, wanted);
    }
    if (kind.has(Trait.GENERATION)
        && !Json.same(content(kind, stored), content(kind, wanted))) {
      countGeneration(wanted);
    }
    return wanted;
  }

  static ObjectNode status(Kind kind, ObjectNode stored, ObjectNode wanted) {
    checkVersion(kind, stored, wanted);
    var next = Json.object();
    next.setAll(stored);
    next.set("metadata", Json.object().setAll(ObjectMeta.of(stored)));
    copy("status", wanted, next);
    copy("managedFields", ObjectMeta.of(wanted), ObjectMeta.of(next));
    return next;
  }

  /**
   * The object with the finalizer by which the garbage collector follows {@code propagation}, and
   * without the finalizer for another propagation.
   */
  static ObjectNode propagating(ObjectNode stored, Propagation propagation) {
    if (propagation == Propagation.UNSET) {
      return stored;
    }
    var finalizers = finalizers(stored);
    finalizers.removeAll(Set.of(ObjectMeta.ORPHAN, ObjectMeta.FOREGROUND));
    switch (propagation) {
      case ORPHAN -> finalizers.add(ObjectMeta.ORPHAN);
      case FOREGROUND -> finalizers.add(ObjectMeta.FOREGROUND);
      default -> {
      }
    }
    if (finalizers.equals(finalizers(stored))) {
      return stored;
    }
    var next = stored.deepCopy();
    var list = ObjectMeta.of(next).putArray("finalizers");
    finalizers.forEach(list::add);
    if (list.isEmpty()) {
      ObjectMeta.of(next).remove("finalizers");
    }
    return next;
  }

  /**
   * The object as it is being deleted. A later deletion can only shorten the time.
   *
   * @param until the time after which it is gone
   */
  static ObjectNode terminating(Kind kind, ObjectNode stored, String until, long graceSeconds) {
    boolean already = ObjectMeta.terminating(stored);
    if (already && graceSeconds >= grace(stored)) {
      return stored;
    }
    var next = stored.deepCopy();
    ObjectMeta.of(next).put("deletionTimestamp", until)
        .put("deletionGracePeriodSeconds", graceSeconds);
    if (kind.equals(BuiltInKinds.NAMESPACE)) {
      next.withObjectProperty("status").put("phase", "Terminating");
    }
    if (!already && ObjectMeta.of(next).has("generation")) {
      countGeneration(next);
    }
    return next;
  }

  /**
   * How long the kubelet may take to end what an object runs.
   *
   * <p><b>Source.</b> {@code CheckGracefulDelete} in {@code pkg/registry/core/pod/strategy.go}.
   */
  static long graceSeconds(Kind kind, ObjectNode stored, DeleteOptions options) {
    boolean runs = kind.equals(BuiltInKinds.POD) && stored.at("/spec").has("nodeName")
        && !stored.at("/status/phase").asString("").matches("Succeeded|Failed");
    if (!runs) {
      return 0;
    }
    long wanted = options.graceSeconds() != null
        ? options.graceSeconds()
        : stored.at("/spec/terminationGracePeriodSeconds").asLong(DEFAULT_GRACE_SECONDS);
    long grace = wanted < 0 ? 1 : wanted;
    return ObjectMeta.terminating(stored) ? Math.min(grace, grace(stored)) : grace;
  }

  private static long grace(ObjectNode terminating) {
    return terminating.at("/metadata/deletionGracePeriodSeconds").asLong(0);
  }

  private static void checkVersion(Kind kind, ObjectNode stored, ObjectNode wanted) {
    String version = ObjectMeta.resourceVersion(wanted);
    if (version.isEmpty() && kind.has(Trait.VERSION_REQUIRED)) {
      throw StatusException.invalid("metadata.resourceVersion",
          "Invalid value: 0: must be specified for an update");
    }
    if (!version.isEmpty() && !version.equals(ObjectMeta.resourceVersion(stored))) {
      throw StatusException.conflict(kind, ObjectMeta.name(stored));
    }
    String uid = ObjectMeta.uid(wanted);
    if (!uid.isEmpty() && !uid.equals(ObjectMeta.uid(stored))) {
      throw StatusException.uidConflict(kind, ObjectMeta.name(stored), uid, ObjectMeta.uid(stored));
    }
  }

  private static void keep(ObjectNode stored, ObjectNode next, Kind kind) {
    var from = ObjectMeta.of(stored);
    var to = ObjectMeta.of(next);
    to.remove("selfLink");
    KEPT.forEach(field -> copy(field, from, to));
    if (kind.has(Trait.STATUS)) {
      copy("status", stored, next);
    }
  }

  private static void copy(String field, ObjectNode from, ObjectNode to) {
    var value = from.get(field);
    if (value == null) {
      to.remove(field);
    } else {
      to.set(field, value);
    }
  }

  private static JsonNode content(Kind kind, ObjectNode object) {
    var content = Json.object();
    content.setAll(object);
    content.remove("metadata");
    if (kind.has(Trait.STATUS) || kind.has(Trait.BUILT_IN)) {
      content.remove("status");
    }
    return content;
  }

  private static void countGeneration(ObjectNode object) {
    var metadata = ObjectMeta.of(object);
    metadata.put("generation", metadata.path("generation").longValue(0) + 1);
  }

  private static void refuseNewFinalizers(ObjectNode stored, ObjectNode next) {
    var fresh = finalizers(next);
    fresh.removeAll(finalizers(stored));
    if (!fresh.isEmpty()) {
      String names = fresh.stream().map(name -> '"' + name + '"').collect(Collectors.joining(", "));
      throw StatusException.forbidden("metadata.finalizers", "no new finalizers can be added if the"
          + " object is being deleted, found new finalizers []string{" + names + "}");
    }
  }

  private static Set<String> finalizers(ObjectNode object) {
    var names = new LinkedHashSet<String>();
    object.path("metadata").path("finalizers").forEach(name -> names.add(name.asString("")));
    return names;
  }
}
