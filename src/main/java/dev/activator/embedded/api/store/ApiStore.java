package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.ObjectWrites.Deletion;
import dev.activator.embedded.api.store.ObjectWrites.Preconditions;
import dev.activator.embedded.api.store.Storage.Tables;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The objects, and the order of all changes to them.
 *
 * <p>
 * Objects are copied on the way in and out. Each write that changes
 * something takes the next revision, which becomes the object's resourceVersion; one that changes
 * nothing takes none and makes no event. Revisions begin at the clock's microseconds, so that
 * clients of an earlier run see that their own are too old.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in; writes are made one after the other, in microseconds.
 * Admission hooks and the changes given to {@code edit} run on the caller's thread, outside the
 * lock.
 *
 * <p>
 * <b>Errors.</b> {@link StatusException} says what a Kubernetes API would.
 */
public final class ApiStore {
  /** Calls a handler until it is closed. */
  public interface StoreSubscription extends AutoCloseable {
    /** Ends the calls: on the executor that makes them, none follows. Idempotent. */
    @Override
    void close();
  }

  /**
   * All objects of a kind at one moment. They are shared and never change.
   *
   * @param objects in order of namespace and name
   * @param revision of the store at that moment
   */
  public record ObjectList(Kind kind, List<ObjectNode> objects, long revision) {}

  /** What becomes of an object that is created in a namespace that does not exist. */
  public enum MissingNamespace {
    /** The namespace is made. */
    CREATED,
    /** The object is refused, as a cluster does. */
    REFUSED
  }

  private static final List<String> PRESENT = List.of("default", "kube-system", "knative-serving");

  private final Map<Kind, List<UnaryOperator<ObjectNode>>> hooks = new ConcurrentHashMap<>();
  private final KindRegistry kinds = new KindRegistry();
  private final PodLogs podLogs = new PodLogs();
  private final Clock clock;
  private final Tables tables;
  private final ObjectWrites writes;
  private final ObjectWrites dryRun;

  /** A store with the namespaces that are always there; others are made when they are needed. */
  public ApiStore(Clock clock) {
    this(clock, new SecureRandom(), MissingNamespace.CREATED);
  }

  ApiStore(Clock clock, RandomGenerator random, MissingNamespace missingNamespace) {
    this.clock = clock;
    var identities = new Identities(clock, random);
    this.tables = new Tables(identities.firstRevision());
    var writer = new ObjectWriter(tables, kinds, identities, missingNamespace);
    this.writes = new ObjectWrites(tables, this::admit, writer);
    this.dryRun = new ObjectWrites(tables, this::admit,
        new ObjectWriter(new Storage.DryRunStorage(tables), kinds, identities, missingNamespace));
    PRESENT.forEach(writer::ensureNamespace);
    onAdmission(Kinds.CUSTOM_RESOURCE_DEFINITION,
        definition -> kinds.admit(definition, identities.now()));
    tables.listen(kinds::follow);
  }

  /** The kinds there are; those that clients bring come and go with their definitions. */
  public KindRegistry kinds() {
    return kinds;
  }

  /** What pods print; whoever runs them writes it. */
  public PodLogs podLogs() {
    return podLogs;
  }

  /**
   * Adds a hook that sees each object of the kind before it is created or updated, and returns it,
   * changed or not. It refuses one by throwing {@link StatusException#invalid}.
   */
  public void onAdmission(Kind kind, UnaryOperator<ObjectNode> hook) {
    hooks.computeIfAbsent(kind, _ -> new CopyOnWriteArrayList<>()).add(hook);
  }

  /** The time by the clock that stamps objects. */
  public Instant now() {
    return clock.instant();
  }

  /** The revision of the newest change. */
  public long revision() {
    return tables.revision();
  }

  /** Writes that are stored. */
  public ObjectWrites writes() {
    return writes;
  }

  /** Dry runs: the same checks and the same answers, and nothing is stored. */
  public ObjectWrites dryRun() {
    return dryRun;
  }

  /** Adds an object; with {@code metadata.generateName} and no name it is given one. */
  public ObjectNode create(Kind kind, ObjectNode object) {
    return writes.create(kind, object);
  }

  /**
   * Replaces an object; a resourceVersion in it must be the stored one's. The status of a kind with
   * a status subresource stays as it was.
   */
  public ObjectNode update(Kind kind, ObjectNode object) {
    return writes.update(kind, object);
  }

  /** Changes the status of an object, and retries on conflict. */
  public ObjectNode updateStatus(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change) {
    return writes.updateStatus(kind, namespace, name, change);
  }

  /**
   * Changes an object, and retries on conflict. A change that sets another resourceVersion gets
   * the conflict instead.
   */
  public ObjectNode edit(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change) {
    return writes.edit(kind, namespace, name, change);
  }

  Tables tables() {
    return tables;
  }

  /** The object, or null if there is none. */
  public @Nullable ObjectNode find(Kind kind, String namespace, String name) {
    return writes.find(kind, namespace, name);
  }

  /** All objects of the kind, in all namespaces, in order of namespace and name. */
  public List<ObjectNode> list(Kind kind) {
    synchronized (tables) {
      return tables.list(kind).stream().map(ObjectNode::deepCopy).toList();
    }
  }

  /** Deletes an object, or marks it if it has finalizers. */
  public void delete(Kind kind, String namespace, String name) {
    delete(kind, namespace, name, Preconditions.NONE);
  }

  /** Deletes an object that meets the preconditions, or marks it if it has to wait. */
  public Deletion delete(Kind kind, String namespace, String name, Preconditions preconditions) {
    return writes.delete(kind, namespace, name, preconditions);
  }

  /**
   * Tells of all objects of the kind as added, then of every change, in order, one at a time.
   *
   * @param executor runs the calls, and must queue them: one that runs them inside this call would
   *        run them inside other callers' writes as well
   */
  public StoreSubscription subscribe(Kind kind, Executor executor, Consumer<ApiEvent> handler) {
    var open = new AtomicBoolean(true);
    Consumer<ApiEvent> deliver = event -> executor.execute(() -> {
      if (open.get()) {
        handler.accept(event);
      }
    });
    var following = follow(List.of(kind),
        present -> present.objects().forEach(object -> deliver.accept(new ApiEvent(
            ApiEvent.Type.ADDED, kind, object.deepCopy(), Meta.revision(object)))),
        event -> {
          if (event.kind().equals(kind)) {
            deliver.accept(
                new ApiEvent(event.type(), kind, event.object().deepCopy(), event.revision()));
          }
        });
    return () -> {
      open.set(false);
      following.close();
    };
  }

  /**
   * Hands over what is there of these kinds, then every change of any kind, with nothing lost
   * between. Both are called inside the store's lock: they must hand over to another thread and
   * return. The objects are shared and never change.
   */
  public StoreSubscription follow(List<Kind> kinds, Consumer<ObjectList> present,
      Consumer<ApiEvent> listener) {
    synchronized (tables) {
      for (var kind : kinds) {
        present.accept(new ObjectList(kind, tables.list(kind), tables.revision()));
      }
      tables.listen(listener);
    }
    return () -> tables.forget(listener);
  }

  /** The object after all hooks, in the order in which they came. */
  private ObjectNode admit(Kind kind, ObjectNode object) {
    var admitted = object;
    for (var hook : hooks.getOrDefault(kind, List.of())) {
      admitted = hook.apply(admitted);
    }
    return admitted;
  }
}
