package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.InMemoryStorage.Tables;
import dev.activator.embedded.api.store.ObjectWrites.ManagedFieldsUpdater;
import dev.activator.embedded.api.store.ObjectWrites.DeleteOptions;
import dev.activator.embedded.api.store.ObjectWrites.Deletion;
import dev.activator.embedded.api.store.ObjectWrites.Preconditions;
import dev.activator.embedded.api.store.ObjectWrites.Propagation;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The store of all objects, which puts all changes in one order. {@link ObjectWrites} describes the
 * writes.
 *
 * <p>Objects that are read, or passed to handlers, are shared, and must not be changed. Each change
 * gets the next revision, which becomes the object's resourceVersion. A write that changes nothing
 * makes no event. Revisions begin at the clock's time in microseconds, so revisions of earlier runs
 * are too old.
 *
 * <p><b>Threads.</b> Any thread may call. Writes run one at a time.
 */
public final class ApiStore {
  public interface StoreSubscription extends AutoCloseable {
    /** Ends the subscription. The handler is not called afterwards. Idempotent. */
    @Override
    void close();
  }

  /**
   * All objects of a kind at one moment, sorted by namespace and name. The objects must not be
   * changed.
   */
  public record ObjectList(Kind kind, List<ObjectNode> objects, long revision) {}

  public enum MissingNamespace {
    CREATED,
    REFUSED
  }

  private static final List<String> PRESENT = List.of("default", "kube-system", "knative-serving");

  private final Map<Kind, List<UnaryOperator<ObjectNode>>> hooks = new ConcurrentHashMap<>();
  private final Map<Kind, Function<ObjectNode, CompletableFuture<Void>>> written = new ConcurrentHashMap<>();
  private final Map<Kind, Function<ObjectNode, List<String>>> unknownFields = new ConcurrentHashMap<>();
  private final KindRegistry kinds = new KindRegistry();
  private final PodLogStore podLogs = new PodLogStore();
  private final PodProcessRegistry podProcesses = new PodProcessRegistry();
  private final Clock clock;
  private final Tables tables;
  private final ObjectWrites writes;
  private final ObjectWrites dryRun;

  public ApiStore(Clock clock) {
    this(clock, new SecureRandom(), MissingNamespace.CREATED);
  }

  ApiStore(Clock clock, RandomGenerator random, MissingNamespace missingNamespace) {
    this.clock = clock;
    var identities = new ObjectMetaGenerator(clock, random);
    this.tables = new Tables(identities.firstRevision());
    var writer = new ObjectCommitter(tables, kinds, identities, missingNamespace);
    this.writes = new ObjectWrites(tables, this::admit, writer, ManagedFieldsUpdater.NONE);
    this.dryRun = new ObjectWrites(tables, this::admit,
        new ObjectCommitter(new InMemoryStorage.DryRunStorage(tables), kinds, identities,
            missingNamespace),
        ManagedFieldsUpdater.NONE);
    PRESENT.forEach(writer::ensureNamespace);
    onAdmission(BuiltInKinds.SECRET,
        secret -> BuiltInKindRules.secret(secret, stored(BuiltInKinds.SECRET, secret)));
    onAdmission(BuiltInKinds.POD, pod -> BuiltInKindRules.pod(pod, stored(BuiltInKinds.POD, pod)));
    onAdmission(BuiltInKinds.SERVICE, BuiltInKindRules::service);
    onAdmission(BuiltInKinds.LEASE, BuiltInKindRules::lease);
    onAdmission(BuiltInKinds.ENDPOINT_SLICE, BuiltInKindRules::endpointSlice);
    onAdmission(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION,
        definition -> kinds.admit(definition, identities.now()));
    tables.listen(kinds::follow);
  }

  public KindRegistry kinds() {
    return kinds;
  }

  public PodLogStore podLogs() {
    return podLogs;
  }

  public PodProcessRegistry podProcesses() {
    return podProcesses;
  }

  /**
   * Adds an admission hook. It may change an object before a create or update, or refuse it with
   * {@link StatusException#invalid}.
   */
  public void onAdmission(Kind kind, UnaryOperator<ObjectNode> hook) {
    hooks.computeIfAbsent(kind, _ -> new CopyOnWriteArrayList<>()).add(hook);
  }

  /**
   * Sets the function that finds fields of an object that are not in the schema of its
   * CustomResourceDefinition.
   */
  public void onUnknownFields(Kind kind, Function<ObjectNode, List<String>> found) {
    unknownFields.put(kind, found);
  }

  /** The unknown fields of an object, one sentence each; empty for a kind without a schema. */
  public List<String> unknownFields(Kind kind, ObjectNode object) {
    return unknownFields.getOrDefault(kind, _ -> List.of()).apply(object);
  }

  /**
   * Sets a function whose future completes when a write of this kind has taken effect. The response
   * to the write waits for it. The future must not depend on later writes.
   */
  public void onWritten(Kind kind, Function<ObjectNode, CompletableFuture<Void>> applied) {
    written.put(kind, applied);
  }

  /** Completes when the written object has taken effect. */
  public CompletableFuture<Void> applied(Kind kind, ObjectNode object) {
    var hook = written.get(kind);
    return hook == null ? CompletableFuture.completedFuture(null) : hook.apply(object);
  }

  public Instant now() {
    return clock.instant();
  }

  public long revision() {
    return tables.revision();
  }

  public ObjectWrites writes() {
    return writes;
  }

  public ObjectWrites dryRun() {
    return dryRun;
  }

  public ObjectNode create(Kind kind, ObjectNode object) {
    return writes.create(kind, object);
  }

  /** Creates an object, but not its namespace, which may have been deleted. */
  public ObjectNode createInNamespace(Kind kind, ObjectNode object) {
    return writes.createInNamespace(kind, object);
  }

  public ObjectNode updateStatus(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change) {
    return writes.updateStatus(kind, namespace, name, change);
  }

  public ObjectNode edit(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change) {
    return writes.edit(kind, namespace, name, change);
  }

  Tables tables() {
    return tables;
  }

  public @Nullable ObjectNode find(Kind kind, String namespace, String name) {
    return writes.find(kind, namespace, name);
  }

  /** The stored object with the same name; null if there is none. */
  public @Nullable ObjectNode stored(Kind kind, ObjectNode object) {
    return find(kind, ObjectMeta.namespace(object), ObjectMeta.name(object));
  }

  public List<ObjectNode> list(Kind kind) {
    return list(kind, _ -> true);
  }

  /** @param wanted selects objects; it must not change them */
  public List<ObjectNode> list(Kind kind, Predicate<ObjectNode> wanted) {
    synchronized (tables) {
      return tables.list(kind).stream().filter(wanted).toList();
    }
  }

  public void delete(Kind kind, String namespace, String name) {
    delete(kind, namespace, name, Preconditions.NONE);
  }

  public Deletion delete(Kind kind, String namespace, String name, Preconditions preconditions) {
    return writes.delete(kind, namespace, name,
        new DeleteOptions(preconditions, Propagation.UNSET, null));
  }

  /**
   * Deletes the object if it has this uid. {@code propagation} says what happens to the objects
   * that it owns.
   */
  public void delete(Kind kind, String namespace, String name, String uid,
      Propagation propagation) {
    writes.delete(kind, namespace, name,
        new DeleteOptions(new Preconditions(uid, ""), propagation, null));
  }

  /**
   * Subscribes to a kind. The handler gets all present objects as added, and then each change.
   *
   * @param executor must queue the calls, because they are made inside writes of other callers
   */
  public StoreSubscription subscribe(Kind kind, Executor executor,
      Consumer<ApiStoreChange> handler) {
    var open = new AtomicBoolean(true);
    Consumer<ApiStoreChange> deliver = event -> executor.execute(() -> {
      if (open.get()) {
        handler.accept(event);
      }
    });
    var following = follow(List.of(kind),
        present -> present.objects().forEach(object -> deliver.accept(new ApiStoreChange(
            ApiStoreChange.Type.ADDED, kind, object, ObjectMeta.revision(object)))),
        event -> {
          if (event.kind().equals(kind)) {
            deliver.accept(event);
          }
        });
    return () -> {
      open.set(false);
      following.close();
    };
  }

  /**
   * Subscribes to all kinds. {@code present} gets the objects of these kinds, and then the other
   * listener each change of any kind, without a gap. Both are called inside the store's lock, so
   * they must pass on to another thread. The objects must not be changed.
   */
  public StoreSubscription follow(List<Kind> kinds, Consumer<ObjectList> present,
      Consumer<ApiStoreChange> listener) {
    synchronized (tables) {
      for (var kind : kinds) {
        present.accept(new ObjectList(kind, tables.list(kind), tables.revision()));
      }
      tables.listen(listener);
    }
    return () -> tables.forget(listener);
  }

  private ObjectNode admit(Kind kind, ObjectNode object) {
    var admitted = object;
    for (var hook : hooks.getOrDefault(kind, List.of())) {
      admitted = hook.apply(admitted);
    }
    return admitted;
  }
}
