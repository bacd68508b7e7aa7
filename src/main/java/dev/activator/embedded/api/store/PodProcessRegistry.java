package dev.activator.embedded.api.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A registry of the local process that runs as each pod.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PodProcessRegistry {
  private final Map<String, Running> running = new ConcurrentHashMap<>();

  /**
   * A process. Its number is known soon after its start.
   *
   * @param pid 0 until it runs
   * @param like starts another one with the same environment and folder
   */
  public record Running(LongSupplier pid, Supplier<ProcessBuilder> like) {}

  public void began(String namespace, String pod, Running process) {
    running.put(ObjectMeta.key(namespace, pod), process);
  }

  public void ended(String namespace, String pod) {
    running.remove(ObjectMeta.key(namespace, pod));
  }

  /** Null if none runs. */
  public @Nullable Running find(String namespace, String pod) {
    return running.get(ObjectMeta.key(namespace, pod));
  }
}
