package dev.activator.proxy;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails a run in which a buffer was lost, once all classes are over, as a search collects all garbage
 * three times. Netty's report names where the buffer was used.
 */
final class LeaksAtTheEnd implements BeforeAllCallback {
  @Override
  public void beforeAll(ExtensionContext context) {
    context.getRoot().getStore(Namespace.GLOBAL).computeIfAbsent(LeaksAtTheEnd.class,
        _ -> (AutoCloseable) () -> {
          Activator.collectLeaks();
          Activator.assertNoLeak();
        });
  }
}
