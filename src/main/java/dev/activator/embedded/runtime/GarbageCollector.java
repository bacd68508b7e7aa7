package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.Propagation;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.loop.Loop;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The garbage collector. It deletes objects whose owners are gone. It also removes the finalizer of
 * a deleted owner after its dependents have been orphaned or deleted.
 *
 * <p><b>Threads.</b> One loop.
 *
 * <p><b>Source.</b> {@code pkg/controller/garbagecollector} of Kubernetes. There, absent owners are
 * looked up in the API. Here, the graph has all objects.
 */
final class GarbageCollector {
  private static final Logger log = LoggerFactory.getLogger(GarbageCollector.class);

  /** The part of an object that is kept in the graph. */
  private record Node(Kind kind, String namespace, String name, String uid, List<Owner> owners,
      boolean terminating, boolean orphans, boolean deletesDependents) {
    static Node of(Kind kind, JsonNode object) {
      boolean terminating = ObjectMeta.terminating(object);
      return new Node(kind, ObjectMeta.namespace(object), ObjectMeta.name(object),
          ObjectMeta.uid(object),
          object.path("metadata").path("ownerReferences").valueStream().map(Owner::of).toList(),
          terminating, terminating && ObjectMeta.hasFinalizer(object, ObjectMeta.ORPHAN),
          terminating && ObjectMeta.hasFinalizer(object, ObjectMeta.FOREGROUND));
    }

    boolean isBlockedBy(Node dependent) {
      return dependent.owners.stream().anyMatch(owner -> owner.uid.equals(uid) && owner.blocks);
    }
  }

  private record Owner(String apiVersion, String kind, String uid, boolean blocks) {
    static Owner of(JsonNode reference) {
      return new Owner(reference.path("apiVersion").asString(""),
          reference.path("kind").asString(""), reference.path("uid").asString(""),
          reference.path("blockOwnerDeletion").asBoolean(false));
    }
  }

  private final ApiStore store;
  private final Loop loop;
  private final Map<String, Node> nodes = new HashMap<>();
  /** The uids of the dependents of each owner, by the owner's uid. The owner may be absent. */
  private final Map<String, Set<String>> dependents = new HashMap<>();

  GarbageCollector(ApiStore store, Loop loop) {
    this.store = store;
    this.loop = loop;
  }

  StoreSubscription start() {
    return store.follow(store.kinds().all(),
        present -> loop.execute(() -> present.objects()
            .forEach(object -> replace(Node.of(present.kind(), object)))),
        event -> loop.execute(() -> changed(event)));
  }

  private void changed(ApiStoreChange event) {
    var node = Node.of(event.kind(), event.object());
    if (event.type() != ApiStoreChange.Type.DELETED) {
      replace(node);
      process(node);
      return;
    }
    forget(node.uid());
    dependentsOf(node).forEach(this::process);
    node.owners().forEach(owner -> process(nodes.get(owner.uid())));
  }

  private void replace(Node node) {
    forget(node.uid());
    nodes.put(node.uid(), node);
    node.owners().forEach(owner -> dependents
        .computeIfAbsent(owner.uid(), _ -> new LinkedHashSet<>()).add(node.uid()));
  }

  private void forget(String uid) {
    var before = nodes.remove(uid);
    if (before != null) {
      before.owners().forEach(owner -> dependents.computeIfPresent(owner.uid(),
          (_, uids) -> uids.remove(uid) && uids.isEmpty() ? null : uids));
    }
  }

  private List<Node> dependentsOf(Node owner) {
    return dependents.getOrDefault(owner.uid(), Set.of()).stream().map(nodes::get).toList();
  }

  private void process(@Nullable Node node) {
    if (node == null) {
      return;
    }
    if (node.orphans()) {
      dependentsOf(node).forEach(dependent -> dropOwners(dependent, node.uid()::equals));
      dropFinalizer(node, ObjectMeta.ORPHAN);
    } else if (node.deletesDependents()) {
      var blocking = dependentsOf(node).stream().filter(node::isBlockedBy).toList();
      blocking.stream().filter(dependent -> !dependent.deletesDependents())
          .forEach(this::collect);
      if (blocking.isEmpty()) {
        dropFinalizer(node, ObjectMeta.FOREGROUND);
      }
    } else {
      collect(node);
    }
  }

  /** Deletes an object if all its owners are gone. */
  private void collect(Node node) {
    if (node.owners().isEmpty() || node.terminating()) {
      return;
    }
    Predicate<Owner> waits = owner -> nodes.get(owner.uid()) instanceof Node present
        && present.deletesDependents();
    boolean owned = node.owners().stream()
        .anyMatch(owner -> !isAbsent(owner) && !waits.test(owner));
    if (owned) {
      dropOwners(node, uid -> node.owners().stream()
          .anyMatch(owner -> owner.uid().equals(uid) && (isAbsent(owner) || waits.test(owner))));
      return;
    }
    boolean foreground = node.owners().stream().anyMatch(waits) && !dependentsOf(node).isEmpty();
    attempt(node, () -> store.delete(node.kind(), node.namespace(), node.name(), node.uid(),
        foreground ? Propagation.FOREGROUND : Propagation.UNSET));
  }

  /** Whether an owner does not exist. An owner whose kind is unknown here may exist elsewhere. */
  private boolean isAbsent(Owner owner) {
    return !nodes.containsKey(owner.uid()) && store.kinds().all().stream()
        .anyMatch(kind -> kind.apiVersion().equals(owner.apiVersion())
            && kind.kind().equals(owner.kind()));
  }

  private void dropOwners(Node node, Predicate<String> dropped) {
    if (node.owners().stream().map(Owner::uid).anyMatch(dropped)) {
      edit(node, "ownerReferences", reference -> dropped.test(reference.path("uid").asString("")));
    }
  }

  private void dropFinalizer(Node node, String name) {
    edit(node, "finalizers", finalizer -> finalizer.asString("").equals(name));
  }

  private void edit(Node node, String list, Predicate<JsonNode> dropped) {
    attempt(node, () -> store.edit(node.kind(), node.namespace(), node.name(), found -> {
      if (ObjectMeta.uid(found).equals(node.uid())) {
        ArrayNode kept = Json.MAPPER.createArrayNode();
        ObjectMeta.of(found).path(list).valueStream().filter(dropped.negate()).forEach(kept::add);
        setOrRemove(ObjectMeta.of(found), list, kept);
      }
      return found;
    }));
  }

  private static void setOrRemove(ObjectNode metadata, String list, ArrayNode kept) {
    if (kept.isEmpty()) {
      metadata.remove(list);
    } else {
      metadata.set(list, kept);
    }
  }

  private static void attempt(Node node, Runnable write) {
    try {
      write.run();
    } catch (StatusException e) {
      // The object was deleted or changed in the meantime. The event about that will follow.
      log.debug("{} {}/{}: {}", node.kind(), node.namespace(), node.name(), e.getMessage());
    }
  }
}
