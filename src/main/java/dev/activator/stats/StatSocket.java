package dev.activator.stats;

/**
 * One connection to the autoscaler, open or on its way to be.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the link's loop, and so are those to the {@link Events}.
 */
interface StatSocket {
  /** Opens a connection; the outcome is told later, never inside the call. */
  @FunctionalInterface
  interface Dialer {
    StatSocket dial(Events events);
  }

  /** What becomes of a connection. */
  interface Events {
    void opened();

    void ponged();

    /** It never opened, or has ended; no event comes after this. */
    void closed(String why);
  }

  /** Whether a frame would be sent rather than pile up here. */
  boolean isWritable();

  /** Sends one binary frame. */
  void send(byte[] frame);

  void ping();

  /** Sends nothing more and closes the connection, if there is one. */
  void close();
}
