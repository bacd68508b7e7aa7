package dev.activator.testing.network;

import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.util.Arrays;

/** The other end of a connection of the process: a caller or a pod. */
public final class SimulatedPeer {
  /** How the process ended its sending side. */
  public enum End {
    OPEN,
    FIN,
    RESET
  }

  private final SimulatedSocket socket;
  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
  private final ByteArrayOutputStream arrived = new ByteArrayOutputStream();
  private End end = End.OPEN;
  private boolean finSent;
  private boolean closed;
  private boolean resetSent;

  SimulatedPeer(SimulatedSocket socket) {
    this.socket = socket;
  }

  /** Of the pod that the process connected to, or of the caller. */
  public InetSocketAddress address() {
    return socket.remoteAddress();
  }

  public void send(byte[] bytes) {
    if (finSent || closed || resetSent) {
      return;
    }
    if (!socket.isOpen()) {
      // A kernel resets who sends to a closed socket.
      processReset();
      return;
    }
    sent.writeBytes(bytes);
  }

  /** Sends no more; still reads. */
  public void endOutput() {
    finSent = true;
  }

  /** Also reads no more: what comes is answered with a reset, and unread bytes are, too. */
  public void close() {
    closed = true;
    if (arrived.size() > 0) {
      reset();
    } else {
      finSent = true;
    }
  }

  /** What was sent before is still read, as Linux does. */
  public void reset() {
    resetSent = true;
  }

  /** The reset comes before what was sent and not read: packets were lost. */
  public void resetAtOnce() {
    sent.reset();
    reset();
  }

  public End end() {
    return end;
  }

  public boolean isGone() {
    return closed || resetSent;
  }

  /** What has arrived; makes room for more. */
  public byte[] read() {
    byte[] all = arrived.toByteArray();
    arrived.reset();
    return all;
  }

  /** What has arrived and was not read. */
  public int unread() {
    return arrived.size();
  }

  boolean hasSent() {
    return sent.size() > 0 || finSent || resetSent;
  }

  boolean isEnding() {
    return finSent || resetSent;
  }

  boolean isReset() {
    return resetSent;
  }

  /** A reset behind an orderly end is not noticed by who only reads, as in Linux. */
  boolean isCut() {
    return resetSent && !finSent;
  }

  boolean isClosed() {
    return closed;
  }

  /** The next bytes for the process; empty if there are none. */
  byte[] take(int limit) {
    byte[] all = sent.toByteArray();
    int length = Math.min(limit, all.length);
    byte[] first = Arrays.copyOf(all, length);
    sent.reset();
    sent.write(all, length, all.length - length);
    return first;
  }

  int untaken() {
    return sent.size();
  }

  void arrive(byte[] bytes) {
    if (closed || resetSent) {
      // Nobody listens any more.
      resetSent = true;
    } else {
      arrived.writeBytes(bytes);
    }
  }

  void processEnded() {
    if (end == End.OPEN) {
      end = End.FIN;
    }
  }

  /** A part of what it has not read was on its way to it, and is lost. */
  void processReset() {
    end = End.RESET;
    byte[] all = arrived.toByteArray();
    arrived.reset();
    arrived.write(all, 0, socket.partOf(all.length));
  }
}
