package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.util.function.Consumer;

/**
 * Notifies the other activators which pod has issued a key, such as a session, so that they send its
 * requests there, too. A notice may be lost, or come after a request with its key.
 *
 * <p><b>Threads.</b> Any; the listener is called on any.
 */
public interface KeyNotices {
  /** There are no other activators. */
  KeyNotices NONE = new KeyNotices() {
    @Override
    public void send(Notice notice) {}

    @Override
    public void listen(Consumer<Notice> listener) {}
  };

  /**
   * @param high the upper half of the hash that stands for the key
   * @param low its lower half
   */
  record Notice(RevisionId revision, long high, long low, Destination pod) {}

  void send(Notice notice);

  void listen(Consumer<Notice> listener);
}
