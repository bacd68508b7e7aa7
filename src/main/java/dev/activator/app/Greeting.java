package dev.activator.app;

import dev.activator.revision.Revision;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tells the user how to go on, once.
 *
 * <p>
 * <b>Threads.</b> Any thread may tell it.
 */
final class Greeting {
  private final Runnable say;
  private final AtomicBoolean said = new AtomicBoolean();

  Greeting(Runnable say) {
    this.say = say;
  }

  void heardOf(Revision first) {
    if (!said.getAndSet(true)) {
      say.run();
    }
  }
}
