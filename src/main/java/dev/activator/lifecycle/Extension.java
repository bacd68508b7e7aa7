package dev.activator.lifecycle;

import java.util.ArrayList;
import java.util.List;

/**
 * An optional feature, which is attached to the kernel from outside. The kernel uses no class of it,
 * nor do other extensions; some settings and annotations that it reads are checked by the kernel.
 *
 * <p><b>Threads.</b> The thread of the start.
 *
 * <p><b>Errors.</b> An exception ends the start.
 *
 * <p><b>Source.</b> Envoy's {@code source/extensions}, where each feature is a folder that the core
 * knows by an interface only.
 */
public final class Extension {
  private final String name;
  private final Runnable attachment;
  private final List<TimedPart> parts = new ArrayList<>(2);

  private record TimedPart(StartOrder when, LifecyclePart part) {}

  /** When a part of an extension starts. All parts stop in the reverse of their order. */
  public enum StartOrder {
    /** Before the connection to the cluster: ports for operators, which show how the start goes. */
    FIRST,
    /** When the settings are known and the informers are synced, before a request is accepted. */
    BEFORE_REQUESTS,
    /** Once requests are accepted. */
    AFTER_REQUESTS
  }

  private Extension(String name, Runnable attachment) {
    this.name = name;
    this.attachment = attachment;
  }

  /**
   * An extension that attaches itself by its beans alone, or is disabled.
   *
   * @param name that of its folder in {@code dev.activator.ext}
   */
  public static Extension of(String name) {
    return of(name, () -> {
    });
  }

  /** @param attachment subscribes to topics, and adds observers and meters */
  public static Extension of(String name, Runnable attachment) {
    return new Extension(name, attachment);
  }

  /** Adds a part, after the others that start at the same time. */
  public Extension with(StartOrder when, LifecyclePart part) {
    parts.add(new TimedPart(when, part));
    return this;
  }

  public String name() {
    return name;
  }

  /** Called once, when all objects are made and before anything starts. */
  public void attach() {
    attachment.run();
  }

  public List<LifecyclePart> parts(StartOrder when) {
    return parts.stream().filter(one -> one.when == when).map(TimedPart::part).toList();
  }
}
