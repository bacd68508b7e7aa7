package dev.activator.embedded.api.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The registry of the local processes of pods.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PodProcessRegistry {
  private final Map<String, Running> running = new ConcurrentHashMap<>();

  /**
   * A process. Its id is known soon after its start.
   *
   * @param pid returns the process id; 0 until the process runs
   * @param like makes a builder of another process with the same environment and folder
   */
  public record Running(LongSupplier pid, Supplier<ProcessBuilder> like) {}

  public void began(String namespace, String pod, Running process) {
    running.put(ObjectMeta.key(namespace, pod), process);
  }

  public void ended(String namespace, String pod) {
    running.remove(ObjectMeta.key(namespace, pod));
  }

  /** The process of a pod; null if none runs. */
  public @Nullable Running find(String namespace, String pod) {
    return running.get(ObjectMeta.key(namespace, pod));
  }
}
