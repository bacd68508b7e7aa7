package dev.activator.stats;

/**
 * One connection to the autoscaler, open or being opened.
 *
 * <p><b>Threads.</b> Confined to the link's loop; this includes {@link Events}.
 */
interface StatSocket {
  /** Opens sockets. Raises events later, never before it returns. */
  @FunctionalInterface
  interface Dialer {
    StatSocket dial(Events events);
  }

  interface Events {
    void opened();

    void ponged();

    /** The socket failed to open, or has ended. No other event follows. */
    void closed(String why);
  }

  boolean isWritable();

  void send(byte[] frame);

  void ping();

  void close();
}
