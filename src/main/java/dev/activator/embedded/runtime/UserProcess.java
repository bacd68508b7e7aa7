package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.Exit;
import java.util.function.Consumer;

/**
 * A process that was started.
 *
 * <p>
 * <b>Threads.</b> Those of the loop it was started with.
 */
interface UserProcess {
  /** Asks it to end, and ends it if it does not. Its end is reported as any other. */
  void stop();

  /** Ends it, and all its children, now. */
  void kill();

  /**
   * What to start.
   *
   * @param revision it runs for
   * @param pod the name of its pod
   * @param port where it should listen, on the loopback address
   */
  record Spec(LocalRevision revision, String pod, int port) {
    /** The end of a process that could not be started. */
    Exit cannotRun(Throwable cause) {
      return Exit.cannotRun(revision.id().name(), String.valueOf(cause.getMessage()));
    }
  }

  /** Starts processes. */
  @FunctionalInterface
  interface Starter {
    /**
     * Starts one.
     *
     * @param output takes what it prints
     * @param exited called once, on the loop, also if it cannot be started
     */
    UserProcess start(Spec spec, ProcessOutput output, Consumer<Exit> exited);
  }
}
