package dev.activator.lifecycle;

import java.util.List;
import java.util.function.Function;

/**
 * An optional feature, which is attached to the kernel from outside. The kernel does not know it, nor
 * do other extensions.
 *
 * <p><b>Threads.</b> The thread of the start.
 *
 * <p><b>Errors.</b> An exception ends the start.
 *
 * <p><b>Source.</b> Envoy's {@code source/extensions}, where each feature is a folder that the core
 * knows by an interface only.
 */
public interface Extension {
  /** When a part of an extension starts. All parts stop in the reverse of their order. */
  enum StartOrder {
    /** Before the connection to the cluster: ports for operators, which show how the start goes. */
    FIRST,
    /** When the settings are known and the informers are synced, before a request is accepted. */
    BEFORE_REQUESTS,
    /** Once requests are accepted. */
    AFTER_REQUESTS
  }

  /** The name of its folder in {@code dev.activator.ext}. */
  String name();

  /**
   * Subscribes to topics, and adds observers and meters. Called once, when all objects are made and
   * before anything starts.
   */
  default void attach() {}

  default List<LifecyclePart> parts(StartOrder when) {
    return List.of();
  }

  /** An extension that has no parts. */
  static Extension of(String name, Runnable attach) {
    return of(name, attach, _ -> List.of());
  }

  static Extension of(String name, Runnable attach,
      Function<StartOrder, List<LifecyclePart>> parts) {
    return new Extension() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public void attach() {
        attach.run();
      }

      @Override
      public List<LifecyclePart> parts(StartOrder when) {
        return parts.apply(when);
      }
    };
  }
}
