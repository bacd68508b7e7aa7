package dev.activator.embedded.runtime.process;

import dev.activator.embedded.runtime.policy.Exit;
import java.util.function.Consumer;

/**
 * A process that was started.
 *
 * <p>
 * <b>Threads.</b> Those of the loop it was started with.
 */
public interface UserProcess {
  /** Asks it to end; it is made to when it does not. Its end is reported as any other. */
  void stop();

  /** Ends it, and all its children, now. */
  void kill();

  /** Starts processes. */
  @FunctionalInterface
  interface Starter {
    /** Starts one; {@code exited} is told once, on the loop, also where it could not start. */
    UserProcess start(ProcessSpec spec, Consumer<Exit> exited);
  }
}
