package dev.activator.stats;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Connects as another does, and knows what is under way: real sockets take their time, and a test
 * that moves the link's time by hand has to wait for them.
 */
final class CountedDialer implements StatSocket.Dialer {
  private final StatSocket.Dialer dialer;
  private final AtomicInteger made = new AtomicInteger();
  private final AtomicInteger decided = new AtomicInteger();
  private final AtomicInteger pings = new AtomicInteger();
  private final AtomicInteger pongs = new AtomicInteger();

  CountedDialer(StatSocket.Dialer dialer) {
    this.dialer = dialer;
  }

  /** How often it was to connect. */
  int made() {
    return made.get();
  }

  /** Whether it is known what came of each attempt, and each ping was answered, if they are at all. */
  boolean settled(boolean answersPings) {
    return made.get() == decided.get() && (!answersPings || pings.get() == pongs.get());
  }

  /** Those of before will not be answered any more. */
  void forgetPings() {
    pings.set(0);
    pongs.set(0);
  }

  @Override
  public StatSocket dial(StatSocket.Events events) {
    made.incrementAndGet();
    return new Counted(dialer.dial(new Outcome(events)));
  }

  @Override
  public String toString() {
    return dialer.toString();
  }

  private final class Outcome implements StatSocket.Events {
    private final StatSocket.Events events;
    private boolean known;

    Outcome(StatSocket.Events events) {
      this.events = events;
    }

    private void known() {
      if (!known) {
        known = true;
        decided.incrementAndGet();
      }
    }

    @Override
    public void opened() {
      events.opened();
      known();
    }

    @Override
    public void ponged() {
      events.ponged();
      pongs.incrementAndGet();
    }

    @Override
    public void closed(String why) {
      events.closed(why);
      known();
    }
  }

  private final class Counted implements StatSocket {
    private final StatSocket socket;

    Counted(StatSocket socket) {
      this.socket = socket;
    }

    @Override
    public boolean isWritable() {
      return socket.isWritable();
    }

    @Override
    public void send(byte[] frame) {
      socket.send(frame);
    }

    @Override
    public void ping() {
      pings.incrementAndGet();
      socket.ping();
    }

    @Override
    public void close() {
      socket.close();
    }
  }
}
