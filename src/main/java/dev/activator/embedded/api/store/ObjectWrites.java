package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.Kind.Trait;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * All that can be done to objects: for good, or on trial, with the same checks and answers and
 * nothing stored.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. Admission hooks and the changes given to {@code edit} run
 * on the caller's thread, outside the lock.
 *
 * <p>
 * <b>Errors.</b> {@link ApiException} says what a Kubernetes API would.
 */
public final class ObjectWrites {
  private final Exclusive exclusive;
  private final AdmissionHooks hooks;
  private final ObjectWriter writer;

  ObjectWrites(Exclusive exclusive, AdmissionHooks hooks, ObjectWriter writer) {
    this.exclusive = exclusive;
    this.hooks = hooks;
    this.writer = writer;
  }

  /** Adds an object; with {@code metadata.generateName} and no name it is given one. */
  public ObjectNode create(Kind kind, ObjectNode object) {
    return naming(kind, object, () -> {
      var admitted = hooks.admit(kind, creatable(kind, object));
      return exclusive.call(() -> writer.insert(kind, admitted)).deepCopy();
    });
  }

  /**
   * Replaces an object; a resourceVersion in it must be the stored one's. The status of a kind with
   * a status subresource stays as it was.
   */
  public ObjectNode update(Kind kind, ObjectNode object) {
    return naming(kind, object, () -> {
      var wanted = object.deepCopy();
      ObjectRules.formed(kind, wanted);
      ObjectRules.placed(kind, wanted);
      var admitted = hooks.admit(kind, wanted);
      return exclusive.call(() -> writer.replace(kind, admitted)).deepCopy();
    });
  }

  /** Replaces the status of an object and nothing else of it. */
  public ObjectNode replaceStatus(Kind kind, ObjectNode object) {
    return naming(kind, object, () -> {
      var wanted = object.deepCopy();
      ObjectRules.formed(kind, wanted);
      return exclusive.call(() -> writer.replaceStatus(kind, wanted)).deepCopy();
    });
  }

  /** Changes the status of an object, again and again until no other write comes between. */
  public ObjectNode updateStatus(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change) {
    return retrying(kind, namespace, name,
        stored -> replaceStatus(kind, change.apply(stored)));
  }

  /**
   * Changes an object, again and again until no other write comes between. A change that sets
   * another resourceVersion than the one it was given wants that one, and gets a conflict.
   */
  public ObjectNode edit(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> change) {
    return retrying(kind, namespace, name, stored -> update(kind, change.apply(stored)));
  }

  /** Takes an object out if it is the one meant, or marks it if something must happen before. */
  public Deletion delete(Kind kind, String namespace, String name, Preconditions preconditions) {
    var deletion = exclusive.call(() -> writer.delete(kind, namespace, name, preconditions));
    return new Deletion(deletion.object().deepCopy(), deletion.outcome());
  }

  @Nullable ObjectNode find(Kind kind, String namespace, String name) {
    return exclusive.call(() -> {
      var stored = writer.find(kind, namespace, name);
      return stored == null ? null : stored.deepCopy();
    });
  }

  private static ObjectNode creatable(Kind kind, ObjectNode object) {
    var fresh = object.deepCopy();
    ObjectRules.formed(kind, fresh);
    if (!Meta.resourceVersion(fresh).isEmpty()) {
      throw ApiException.internal("resourceVersion should not be set on objects to be created");
    }
    ObjectRules.stripped(fresh);
    ObjectRules.placed(kind, fresh);
    if (kind.has(Trait.STATUS) && !kind.has(Trait.BUILT_IN)) {
      fresh.remove("status");
    }
    return fresh;
  }

  private ObjectNode retrying(Kind kind, String namespace, String name,
      UnaryOperator<ObjectNode> write) {
    while (true) {
      var stored = find(kind, namespace, name);
      if (stored == null) {
        throw ApiException.notFound(kind, name);
      }
      String seen = Meta.resourceVersion(stored);
      try {
        return write.apply(stored);
      } catch (ApiException refused) {
        boolean raced = refused.reason().equals("Conflict")
            && !seen.equals(version(kind, namespace, name));
        if (!raced) {
          throw refused;
        }
      }
    }
  }

  /** The resourceVersion that the object has by now; empty if it is gone. */
  private String version(Kind kind, String namespace, String name) {
    var stored = find(kind, namespace, name);
    return stored == null ? "" : Meta.resourceVersion(stored);
  }

  private static ObjectNode naming(Kind kind, ObjectNode object, Supplier<ObjectNode> write) {
    try {
      return write.get();
    } catch (ApiException refused) {
      throw refused.naming(kind, Meta.name(object));
    }
  }
}
