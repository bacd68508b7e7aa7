package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.Kind.Trait;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The writes of clients. A dry run makes the same checks and returns the same results, but commits
 * nothing.
 *
 * <p><b>Threads.</b> Any thread may call. Admission hooks, and the functions given to {@code edit},
 * run on the caller's thread, outside the lock. Objects that are returned are shared, and must not
 * be changed.
 *
 * <p><b>Errors.</b> {@link StatusException}, with the errors of a Kubernetes API.
 */
public final class ObjectWrites {
  private final Object lock;
  private final BiFunction<Kind, ObjectNode, ObjectNode> admission;
  private final ObjectCommitter writer;
  private final ManagedFieldsUpdater fields;

  /** A hook that sets {@code metadata.managedFields} of an object before it is stored. */
  @FunctionalInterface
  public interface ManagedFieldsUpdater {
    /** The hook for writes of this server. It changes no entries. */
    ManagedFieldsUpdater NONE = (stored, written) -> {
      var entries = stored == null ? null : stored.path("metadata").get("managedFields");
      if (entries == null) {
        ObjectMeta.of(written).remove("managedFields");
      } else {
        ObjectMeta.of(written).set("managedFields", entries);
      }
    };

    /** @param stored null if the object is new */
    void track(@Nullable ObjectNode stored, ObjectNode written);
  }

  public record Deletion(ObjectNode object, Outcome outcome) {
    /**
     * The outcome of a deletion. {@code WAITS} means that the object has finalizers, contains other
     * objects, or is a Pod whose process runs.
     */
    public enum Outcome {
      GONE,
      WAITS
    }
  }

  /**
   * What a deletion may say.
   *
   * @param graceSeconds the time for a Pod to end, after which it is gone; null for its own
   */
  public record DeleteOptions(Preconditions preconditions, Propagation propagation,
      @Nullable Long graceSeconds) {
    public static final DeleteOptions NONE = new DeleteOptions(Preconditions.NONE,
        Propagation.UNSET, null);
    /** Removes a Pod whose process has ended. */
    public static final DeleteOptions NOW = new DeleteOptions(Preconditions.NONE,
        Propagation.UNSET, 0L);
  }

  /**
   * How a deletion affects the objects that the deleted object owns. With {@code UNSET}, its
   * finalizers decide.
   */
  public enum Propagation {
    UNSET,
    BACKGROUND,
    FOREGROUND,
    ORPHAN
  }

  public record Preconditions(String uid, String resourceVersion) {
    public static final Preconditions NONE = new Preconditions("", "");

    public void check(Kind kind, ObjectNode stored) {
      if (!uid.isEmpty() && !uid.equals(ObjectMeta.uid(stored))) {
        throw StatusException.uidConflict(kind, ObjectMeta.name(stored), uid,
            ObjectMeta.uid(stored));
      }
      String version = ObjectMeta.resourceVersion(stored);
      if (!resourceVersion.isEmpty() && !resourceVersion.equals(version)) {
        throw StatusException.conflict(kind, ObjectMeta.name(stored),
            ("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in"
                + " record (%s). The object might have been modified")
                .formatted(resourceVersion, version));
      }
    }
  }

  ObjectWrites(Object lock, BiFunction<Kind, ObjectNode, ObjectNode> admission,
      ObjectCommitter writer, ManagedFieldsUpdater fields) {
    this.lock = lock;
    this.admission = admission;
    this.writer = writer;
    this.fields = fields;
  }

  /** The same writes, but {@code other} sets the owners of the written fields. */
  public ObjectWrites tracking(ManagedFieldsUpdater other) {
    return new ObjectWrites(lock, admission, writer, other);
  }

  /** Creates an object. Without a name, {@code metadata.generateName} is used. */
  public ObjectNode create(Kind kind, ObjectNode object) {
    return create(kind, object, (of, admitted) -> writer.insert(of, admitted, fields));
  }

  /** Creates an object, but never its namespace. */
  ObjectNode createInNamespace(Kind kind, ObjectNode object) {
    return create(kind, object,
        (of, admitted) -> writer.insert(of, admitted, fields,
            ApiStore.MissingNamespace.REFUSED));
  }

  private ObjectNode create(Kind kind, ObjectNode object,
      BiFunction<Kind, ObjectNode, ObjectNode> insert) {
    return naming(kind, object, () -> {
      var admitted = admission.apply(kind, creatable(kind, object));
      return locked(() -> insert.apply(kind, admitted));
    });
  }

  /**
   * Updates an object. If it has a resourceVersion, that must match the stored one. If the kind has
   * a status subresource, the status is kept.
   */
  public ObjectNode update(Kind kind, ObjectNode object) {
    return replaced(kind, object.deepCopy());
  }

  private ObjectNode replaced(Kind kind, ObjectNode wanted) {
    return naming(kind, wanted, () -> {
      ObjectRules.formed(kind, wanted);
      ObjectRules.placed(kind, wanted);
      ObjectRules.wellNamed(kind, wanted);
      var admitted = admission.apply(kind, wanted);
      return locked(() -> writer.replace(kind, admitted, fields));
    });
  }

  public ObjectNode replaceStatus(Kind kind, ObjectNode object) {
    return replacedStatus(kind, object.deepCopy());
  }

  private ObjectNode replacedStatus(Kind kind, ObjectNode wanted) {
    return naming(kind, wanted, () -> {
      ObjectRules.formed(kind, wanted);
      return locked(() -> writer.replaceStatus(kind, wanted, fields));
    });
  }

  /** Updates the status of an object. Retries after a conflict. */
  public ObjectNode updateStatus(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change) {
    return retrying(kind, namespace, name, change, this::replacedStatus);
  }

  /**
   * Changes an object. Retries after a conflict, unless the change itself sets another
   * resourceVersion.
   */
  public ObjectNode edit(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change) {
    return retrying(kind, namespace, name, change, this::replaced);
  }

  public Deletion delete(Kind kind, String namespace, String name, DeleteOptions options) {
    return locked(() -> writer.delete(kind, namespace, name, options));
  }

  @Nullable ObjectNode find(Kind kind, String namespace, String name) {
    return locked(() -> writer.find(kind, namespace, name));
  }

  private <T extends @Nullable Object> T locked(Supplier<T> task) {
    synchronized (lock) {
      return task.get();
    }
  }

  private static ObjectNode creatable(Kind kind, ObjectNode object) {
    var fresh = object.deepCopy();
    ObjectRules.formed(kind, fresh);
    if (!ObjectMeta.resourceVersion(fresh).isEmpty()) {
      throw StatusException.internal("resourceVersion should not be set on objects to be created");
    }
    ObjectRules.stripped(fresh);
    ObjectRules.placed(kind, fresh);
    ObjectRules.wellNamed(kind, fresh);
    if (kind.has(Trait.STATUS) && !kind.has(Trait.BUILT_IN)) {
      fresh.remove("status");
    }
    return fresh;
  }

  private ObjectNode retrying(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change, BiFunction<Kind, ObjectNode, ObjectNode> write) {
    while (true) {
      var stored = find(kind, namespace, name);
      if (stored == null) {
        throw StatusException.notFound(kind, name);
      }
      String seen = ObjectMeta.resourceVersion(stored);
      try {
        var changed = change.apply(stored.deepCopy());
        return changed.equals(stored) ? stored : write.apply(kind, changed);
      } catch (StatusException e) {
        boolean raced = e.reason().equals("Conflict")
            && !seen.equals(version(kind, namespace, name));
        if (!raced) {
          throw e;
        }
      }
    }
  }

  /** The resourceVersion of an object; empty if it does not exist. */
  private String version(Kind kind, String namespace, String name) {
    var stored = find(kind, namespace, name);
    return stored == null ? "" : ObjectMeta.resourceVersion(stored);
  }

  private static ObjectNode naming(Kind kind, ObjectNode object, Supplier<ObjectNode> write) {
    try {
      return write.get();
    } catch (StatusException e) {
      throw e.naming(kind, ObjectMeta.name(object));
    }
  }
}
