package dev.activator.embedded.api.store;

/** Calls that go on until it is closed. */
public interface Subscription extends AutoCloseable {
  /** Ends the calls: on the executor that makes them, none follows. Twice is once. */
  @Override
  void close();
}
