package dev.activator.embedded.api.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import tools.jackson.databind.node.ObjectNode;

/**
 * The kinds that the server has at present.
 *
 * <p><b>Threads.</b> Any thread may call. Listeners may be called inside the store's lock, so they
 * must pass on to another thread.
 */
public final class KindRegistry {
  private final List<Consumer<Kind>> leaving = new CopyOnWriteArrayList<>();
  private volatile List<Kind> kinds = BuiltInKinds.all();

  public KindRegistry() {}

  /** All kinds, beginning with the core group. Each change makes a new list. */
  public List<Kind> all() {
    return kinds;
  }

  public Optional<Kind> at(String group, String version, String plural) {
    return kinds.stream().filter(kind -> kind.group().equals(group)
        && kind.version().equals(version) && kind.plural().equals(plural)).findFirst();
  }

  private synchronized void register(Kind kind) {
    var next = new ArrayList<>(kinds);
    int index = next.indexOf(kind);
    if (index >= 0) {
      next.set(index, kind);
    } else {
      next.add(kind);
    }
    kinds = List.copyOf(next);
  }

  synchronized void remove(Kind kind) {
    var next = new ArrayList<>(kinds);
    if (next.remove(kind)) {
      kinds = List.copyOf(next);
      leaving.forEach(listener -> listener.accept(kind));
    }
  }

  ObjectNode admit(ObjectNode definition, String now) {
    var kind = CrdReader.defined(definition);
    boolean other = kinds.stream().anyMatch(
        known -> known.resource().equals(kind.resource()) && !known.equals(kind));
    if (other) {
      throw StatusException.invalid("spec.versions", "Invalid value: \"" + kind.version()
          + "\": the kind is stored in another version here, and cannot change it");
    }
    return CrdReader.established(definition, kind, now);
  }

  void follow(ApiStoreChange event) {
    if (!event.kind().equals(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION)) {
      return;
    }
    var kind = CrdReader.defined(event.object());
    if (BuiltInKinds.all().contains(kind)) {
      return;
    }
    if (event.type() == ApiStoreChange.Type.DELETED) {
      remove(kind);
    } else {
      register(kind);
    }
  }

  public ApiStore.StoreSubscription onLeaving(Consumer<Kind> listener) {
    leaving.add(listener);
    return () -> leaving.remove(listener);
  }
}
