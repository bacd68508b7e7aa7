package dev.activator.stats;

/**
 * One connection to the autoscaler, open or being opened.
 *
 * <p>
 * <b>Threads.</b> All calls and {@link Events} happen on the link's loop.
 */
interface StatSocket {
  /** Opens a connection; calls no event before it returns. */
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

  /** Sends one binary frame. */
  void send(byte[] frame);

  void ping();

  void close();
}
