package dev.activator.embedded.api.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The local processes of pods, as makers of a builder of another process with the same environment and folder.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PodProcessRegistry {
  private final Map<String, Supplier<ProcessBuilder>> running = new ConcurrentHashMap<>();

  public void began(String namespace, String pod, Supplier<ProcessBuilder> process) {
    running.put(ObjectMeta.key(namespace, pod), process);
  }

  public void ended(String namespace, String pod) {
    running.remove(ObjectMeta.key(namespace, pod));
  }

  /** The process of a pod; null if none runs. */
  public @Nullable Supplier<ProcessBuilder> find(String namespace, String pod) {
    return running.get(ObjectMeta.key(namespace, pod));
  }
}
