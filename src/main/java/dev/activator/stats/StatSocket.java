package dev.activator.stats;

/**
 * One connection to the autoscaler, open or being opened.
 *
 * <p><b>Threads.</b> Confined to the link's loop, {@link Events} included.
 */
interface StatSocket {
  /** Calls no event before it returns. */
  @FunctionalInterface
  interface Dialer {
    StatSocket dial(Events events);
  }

  interface Events {
    void opened();

    void ponged();

    /** It never opened, or has ended; the last event. */
    void closed(String why);
  }

  boolean isWritable();

  void send(byte[] frame);

  void ping();

  void close();
}
