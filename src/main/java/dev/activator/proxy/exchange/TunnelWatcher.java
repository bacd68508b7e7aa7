package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import org.jspecify.annotations.Nullable;

/**
 * Watches upgraded connections, such as WebSockets. It may count one out while it is silent.
 *
 * <p><b>Threads.</b> Confined to the loop.
 */
@FunctionalInterface
public interface TunnelWatcher {
  TunnelWatcher NONE = _ -> null;

  /** Makes the watcher of a loop. */
  @FunctionalInterface
  interface Maker {
    TunnelWatcher of(Loop loop);
  }

  /** An upgraded connection that is watched. It is counted when this begins. */
  interface Tunnel {
    /** Bytes have passed, in either direction. */
    void bytesPassed();

    /** Whether it is not counted now. Its caller then gets a close code when it ends. */
    boolean isSilent();

    /** The connection has ended. Returns whether it must still be counted out. */
    boolean end();
  }

  /** Called when the pod has switched protocols; null if the connection need not be watched. */
  @Nullable Tunnel opened(Exchange exchange);
}
