package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.Exit;
import java.util.function.Consumer;

/** <b>Threads.</b> The loop it was started with. */
interface UserProcess {
  /** Killed after a grace period. The end is reported like any other. */
  void stop();

  void kill();

  /** @param port where it should listen, on the loopback address */
  record Spec(LocalRevision revision, String pod, int port) {
    Exit cannotRun(Throwable cause) {
      return Exit.cannotRun(revision.id().name(), String.valueOf(cause.getMessage()));
    }
  }

  @FunctionalInterface
  interface Starter {
    /** {@code exited} is called once, on the loop, even if the process cannot be started. */
    UserProcess start(Spec spec, ProcessOutput output, Consumer<Exit> exited);
  }
}
