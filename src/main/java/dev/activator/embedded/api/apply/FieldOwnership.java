package dev.activator.embedded.api.apply;

import static java.util.Comparator.comparing;

import dev.activator.embedded.api.apply.FieldOwner.Operation;
import dev.activator.embedded.api.schema.MergeSchema;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.StatusException.Cause;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The owners of an object's fields (managed fields). It computes the result of a write by one of
 * them.
 *
 * <p><b>Threads.</b> One.
 *
 * <p><b>Source.</b> {@code merge/update.go} in sigs.k8s.io/structured-merge-diff, and
 * {@code util/managedfields} in Kubernetes' apimachinery.
 */
public final class FieldOwnership {
  private static final int MAX_UPDATERS = 10;
  private static final String MANAGED = "managedFields";
  private static final String KUBECTL = "kubectl";
  private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
  /** The fields that never have an owner. */
  private static final FieldSet SERVER_OWNED = FieldSet.parse(Json.MAPPER.readTree("""
      {"f:apiVersion": {}, "f:kind": {}, "f:metadata": {".": {}, "f:name": {}, "f:namespace": {},
      "f:creationTimestamp": {}, "f:selfLink": {}, "f:uid": {}, "f:generation": {},
      "f:managedFields": {}, "f:resourceVersion": {}}}"""));

  private final Kind kind;
  private final MergeSchema shape;
  private final String now;
  private final Map<FieldOwner, Owned> owners;

  private record Owned(FieldSet fields, String time) {}

  private FieldOwnership(Kind kind, MergeSchema shape, String now, Map<FieldOwner, Owned> owners) {
    this.kind = kind;
    this.shape = shape;
    this.now = now;
    this.owners = owners;
  }

  /**
   * The ownership of a stored object.
   *
   * @param now the time of the write
   */
  public static FieldOwnership of(Kind kind, String now, @Nullable ObjectNode stored) {
    return of(kind, MergeSchema.of(kind), now, stored);
  }

  static FieldOwnership of(Kind kind, MergeSchema shape, String now, @Nullable ObjectNode stored) {
    var entries = stored == null ? null : stored.path("metadata").get(MANAGED);
    return new FieldOwnership(kind, shape, now,
        entries == null ? new HashMap<>() : parsed(kind, entries).orElseGet(HashMap::new));
  }

  /** The parsed entries, without those of another version; empty if they are malformed. */
  private static Optional<Map<FieldOwner, Owned>> parsed(Kind kind, JsonNode entries) {
    var owners = new HashMap<FieldOwner, Owned>();
    try {
      for (var entry : entries) {
        var manager = new FieldOwner(entry.path("manager").asString(""),
            Operation.valueOf(entry.path("operation").asString("").toUpperCase(Locale.ROOT)),
            entry.path("subresource").asString(""));
        if (entry.path("apiVersion").asString("").equals(kind.apiVersion())) {
          owners.put(manager, new Owned(FieldSet.parse(entry.path("fieldsV1")),
              entry.path("time").asString("")));
        }
      }
    } catch (IllegalArgumentException | JacksonException _) {
      return Optional.empty();
    }
    return Optional.of(owners);
  }

  /**
   * Sets the owners after a write that is not an apply: the manager owns the fields that it has
   * changed. Entries in the written object replace the stored ones.
   */
  public void update(@Nullable ObjectNode stored, ObjectNode written, FieldOwner manager) {
    if (manager.subresource().isEmpty()) {
      replaceEntries(written);
    }
    try {
      // The server sets the status of a new object.
      var changes = stored == null
          ? StructuredMerge.compare(shape, Json.object(), writable(written, ""))
          : StructuredMerge.compare(shape, stored, written);
      own(manager, manager.subresource().equals("scale")
          ? withoutZero(written, changes)
          : changes);
    } catch (StatusException _) {
      // A list cannot be merged, so the owners stay.
    }
    cap();
    record(written);
  }

  /**
   * A write of zero replicas through {@code scale}, after which they have no owner.
   *
   * <p><b>Source.</b> {@code ScaleSpec} in {@code autoscaling/v1}, whose encoding omits the zero.
   */
  private StructuredMerge.Changes withoutZero(ObjectNode written, StructuredMerge.Changes changes) {
    if (written.path("spec").path(kind.replicasField()).asInt(-1) != 0) {
      return changes;
    }
    var path = Json.object();
    path.putObject("f:spec").putObject("f:" + kind.replicasField());
    var replicas = FieldSet.parse(path);
    return new StructuredMerge.Changes(changes.added().difference(replicas),
        changes.modified().difference(replicas), changes.removed().union(replicas));
  }

  /** The manager that has set the number of replicas last; empty if none owns it. */
  public String managerOfReplicas() {
    return owners.entrySet().stream()
        .filter(one -> one.getValue().fields().child(FieldSet.field("spec"))
            .child(FieldSet.field(kind.replicasField())).member())
        .max(comparing(one -> one.getValue().time())).map(one -> one.getKey().name()).orElse("");
  }

  private void replaceEntries(ObjectNode written) {
    var entries = written.path("metadata").path(MANAGED);
    if (entries.size() == 1 && entries.get(0).isEmpty()) {
      owners.clear();
    } else if (!entries.isEmpty()) {
      parsed(kind, entries).ifPresent(replacing -> {
        owners.clear();
        owners.putAll(replacing);
      });
    }
  }

  private void own(FieldOwner manager, StructuredMerge.Changes changes) {
    var gone = changes.written().union(changes.removed());
    owners.replaceAll((owner, owned) -> new Owned(owned.fields()
        .difference(owner.equals(manager) ? changes.removed() : gone), owned.time()));
    var written = changes.written().difference(SERVER_OWNED);
    if (!written.isEmpty()) {
      owners.merge(manager, new Owned(written, now),
          (before, after) -> new Owned(before.fields().union(after.fields()), after.time()));
    }
    owners.values().removeIf(owned -> owned.fields().isEmpty());
  }

  /**
   * The result of an apply: the stored object, with the fields of {@code config}, and without the
   * fields that the manager does not apply any more.
   *
   * @param manager the owner that applies
   * @throws StatusException if there are conflicts with other managers, unless {@code force}; it
   *     names them
   */
  public ObjectNode apply(@Nullable ObjectNode stored, ObjectNode config, FieldOwner manager,
      boolean force) {
    if (config.path("metadata").path(MANAGED).size() > 0) {
      throw StatusException.badRequest("metadata.managedFields must be nil");
    }
    var live = stored == null ? Json.object() : stored;
    if (stored != null && owners.isEmpty()) {
      own(new FieldOwner("before-first-apply", Operation.UPDATE, ""),
          StructuredMerge.compare(shape, Json.object(), stored));
    }
    var wanted = writable(config, manager.subresource());
    var before = Map.copyOf(owners);
    var last = owners.getOrDefault(manager, new Owned(FieldSet.EMPTY, ""));
    var fields = StructuredMerge.fields(shape, wanted).difference(SERVER_OWNED);
    owners.put(manager, new Owned(fields, last.time()));
    var merged = prune((ObjectNode) StructuredMerge.merge(shape, live, wanted), last.fields());
    takeOver(live, merged, manager, force);
    if (!Json.same(live, merged) || !before.equals(owners)) {
      owners.computeIfPresent(manager, (_, owned) -> new Owned(owned.fields(), now));
    }
    refreshLastApplied(config, merged, manager);
    record(merged);
    return merged;
  }

  /** The fields of {@code config} that may be written through this subresource. */
  private ObjectNode writable(ObjectNode config, String subresource) {
    var wanted = config.deepCopy();
    if (subresource.equals("status")) {
      wanted.retain("apiVersion", "kind", "metadata", "status");
      ObjectMeta.of(wanted).retain("name", "namespace", "uid", "resourceVersion");
    } else if (kind.has(Trait.STATUS)) {
      wanted.remove("status");
    }
    return wanted;
  }

  /**
   * Removes the fields that the manager applied last time, but not this time, if they have no other
   * owner.
   */
  private ObjectNode prune(ObjectNode merged, FieldSet last) {
    if (last.isEmpty()) {
      return merged;
    }
    var applied = StructuredMerge.withDeclared(shape, last);
    var all = declaredFields(merged);
    var owned = owners.values().stream().map(Owned::fields).reduce(FieldSet.EMPTY, FieldSet::union);
    var withoutLast = declaredFields(left(merged, applied));
    var kept = left(merged,
        all.difference(withoutLast.union(StructuredMerge.withDeclared(shape, owned))));
    return left(merged, all.difference(declaredFields(kept)).intersection(applied));
  }

  private FieldSet declaredFields(ObjectNode object) {
    return StructuredMerge.withDeclared(shape, StructuredMerge.fields(shape, object));
  }

  private ObjectNode left(ObjectNode object, FieldSet removed) {
    return StructuredMerge.remove(shape, object, removed) instanceof ObjectNode left
        ? left
        : Json.object();
  }

  private void takeOver(ObjectNode live, ObjectNode merged, FieldOwner manager, boolean force) {
    var changes = StructuredMerge.compare(shape, live, merged);
    var conflicts = new TreeMap<String, FieldSet>();
    owners.forEach((owner, owned) -> {
      var contested = owned.fields().intersection(changes.written());
      if (!owner.equals(manager) && !contested.isEmpty()) {
        conflicts.merge(owner.described(kind.apiVersion()), contested, FieldSet::union);
      }
    });
    if (!force) {
      var mine = manager.name().equals(KUBECTL) ? appliedByClient(live) : FieldSet.EMPTY;
      conflicts.replaceAll((_, fields) -> fields.difference(mine));
      conflicts.values().removeIf(FieldSet::isEmpty);
      if (!conflicts.isEmpty()) {
        throw conflict(conflicts);
      }
    }
    var gone = changes.written().union(changes.removed());
    owners.replaceAll((owner, owned) -> owner.equals(manager)
        ? owned
        : new Owned(owned.fields().difference(gone), owned.time()));
    owners.values().removeIf(owned -> owned.fields().isEmpty());
  }

  /** The fields that {@code kubectl apply} owns without server-side apply, by its annotation. */
  private FieldSet appliedByClient(ObjectNode live) {
    String annotation = lastApplied(live);
    try {
      if (!annotation.isEmpty()
          && Json.MAPPER.readTree(annotation) instanceof ObjectNode applied
          && applied.path("apiVersion").asString("").equals(kind.apiVersion())) {
        var changes = StructuredMerge.compare(shape, applied, live);
        return StructuredMerge.fields(shape, applied).difference(changes.written())
            .difference(changes.removed());
      }
    } catch (JacksonException | StatusException _) {
      // Another program has written the annotation, so it is ignored.
    }
    return FieldSet.EMPTY;
  }

  private static String lastApplied(ObjectNode object) {
    return object.path("metadata").path("annotations").path(LAST_APPLIED).asString("");
  }

  /** Updates that annotation, so that a later apply by the client works. */
  private static void refreshLastApplied(ObjectNode config, ObjectNode merged,
      FieldOwner manager) {
    if (manager.name().equals(KUBECTL) && !lastApplied(merged).isEmpty()) {
      var applied = config.deepCopy();
      if (applied.path("metadata").path("annotations") instanceof ObjectNode annotations) {
        annotations.remove(LAST_APPLIED);
      }
      ObjectMeta.of(merged).withObjectProperty("annotations").put(LAST_APPLIED, applied + "\n");
    }
  }

  private static StatusException conflict(Map<String, FieldSet> conflicts) {
    var causes = new ArrayList<Cause>();
    var lines = new ArrayList<String>();
    conflicts.forEach((manager, fields) -> {
      lines.add("conflicts with " + manager + ":");
      for (var path : fields.paths()) {
        causes.add(new Cause("FieldManagerConflict", path, "conflict with " + manager));
        lines.add("- " + path);
      }
    });
    String message = causes.size() == 1
        ? "1 conflict: " + causes.getFirst().message() + ": " + causes.getFirst().field()
        : causes.size() + " conflicts: " + String.join("\n", lines);
    return StatusException.applyConflict("Apply failed with " + message, causes);
  }

  /** Merges the oldest entries of updates, so that the number of entries is bounded. */
  private void cap() {
    var updaters = owners.entrySet().stream()
        .filter(entry -> entry.getKey().operation() == Operation.UPDATE)
        .sorted(comparing((Map.Entry<FieldOwner, Owned> entry) -> entry.getValue().time())
            .thenComparing(entry -> entry.getKey().name()))
        .map(Map.Entry::getKey).toList();
    if (updaters.size() > MAX_UPDATERS) {
      for (var oldest : updaters.subList(0, updaters.size() - MAX_UPDATERS + 1)) {
        owners.merge(new FieldOwner("ancient-changes", Operation.UPDATE, ""),
            Objects.requireNonNull(owners.remove(oldest)),
            (one, other) -> new Owned(one.fields().union(other.fields()), other.time()));
      }
    }
  }

  private void record(ObjectNode object) {
    var entries = Json.MAPPER.createArrayNode();
    owners.entrySet().stream()
        .sorted(comparing((Map.Entry<FieldOwner, Owned> entry) -> entry.getKey().operation())
            .thenComparing(entry -> entry.getValue().time())
            .thenComparing(entry -> entry.getKey().name())
            .thenComparing(entry -> entry.getKey().subresource()))
        .forEach(entry -> entries.add(json(entry.getKey(), entry.getValue())));
    if (entries.isEmpty()) {
      ObjectMeta.of(object).remove(MANAGED);
    } else {
      ObjectMeta.of(object).set(MANAGED, entries);
    }
  }

  private ObjectNode json(FieldOwner manager, Owned owned) {
    var entry = Json.object().put("apiVersion", kind.apiVersion()).put("fieldsType", "FieldsV1");
    entry.set("fieldsV1", owned.fields().toJson());
    entry.put("manager", manager.name()).put("operation", manager.operation().text());
    if (!manager.subresource().isEmpty()) {
      entry.put("subresource", manager.subresource());
    }
    return entry.put("time", owned.time());
  }
}
