package dev.activator.stats;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.wire.WireStatMessages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An autoscaler in virtual time, which may be away, silent, or slow to read. */
final class FakeAutoscaler implements StatSocket.Dialer {
  private final VirtualLoop loop;
  private final List<Duration> attempts = new ArrayList<>();
  private final List<Duration> pings = new ArrayList<>();
  private final List<RevisionStat> received = new ArrayList<>();
  private boolean up = true;
  private boolean silent;
  private boolean answersPings = true;
  private boolean writable = true;
  private int open;
  private int frames;
  private @Nullable Socket latest;

  FakeAutoscaler(VirtualLoop loop) {
    this.loop = loop;
  }

  /** Accepts connections, or from now on refuses them and closes the one there is. */
  void isUp(boolean now) {
    up = now;
    if (!up && latest != null) {
      latest.hangUp("1012 Restarting");
    }
  }

  /** Neither accepts nor refuses. */
  void isSilent(boolean now) {
    silent = now;
  }

  void answersPings(boolean now) {
    answersPings = now;
  }

  void reads(boolean now) {
    writable = now;
  }

  List<Duration> attempts() {
    return attempts;
  }

  List<Duration> pings() {
    return pings;
  }

  List<RevisionStat> received() {
    return received;
  }

  /** How many frames came, empty ones too. */
  int frames() {
    return frames;
  }

  int open() {
    return open;
  }

  static List<RevisionStat> decoded(byte[] frame) {
    try {
      return WireStatMessages.parseFrom(frame).getMessagesList().stream()
          .filter(message -> !message.getName().isEmpty())
          .map(message -> new RevisionStat(
              new RevisionId(message.getNamespace(), message.getName()),
              message.getStat().getAverageConcurrentRequests(),
              message.getStat().getRequestCount()))
          .toList();
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public StatSocket dial(StatSocket.Events events) {
    attempts.add(loop.elapsed());
    var socket = new Socket(events);
    latest = socket;
    if (!silent) {
      loop.schedule(Duration.ofMillis(1), socket::answer);
    }
    return socket;
  }

  private final class Socket implements StatSocket {
    private final Events events;
    private boolean isOpen;
    private boolean over;

    Socket(Events events) {
      this.events = events;
    }

    private void answer() {
      if (over) {
        return;
      }
      if (up) {
        isOpen = true;
        open++;
        events.opened();
      } else {
        over = true;
        events.closed("connection refused");
      }
    }

    private void hangUp(String why) {
      if (isOpen) {
        close();
        loop.execute(() -> events.closed(why));
      }
    }

    @Override
    public boolean isWritable() {
      return isOpen && writable;
    }

    @Override
    public void send(byte[] frame) {
      if (isOpen) {
        frames++;
        received.addAll(decoded(frame));
      }
    }

    @Override
    public void ping() {
      pings.add(loop.elapsed());
      if (answersPings) {
        loop.schedule(Duration.ofMillis(1), () -> {
          if (isOpen) {
            events.ponged();
          }
        });
      }
    }

    @Override
    public void close() {
      over = true;
      if (isOpen) {
        isOpen = false;
        open--;
      }
    }
  }

  @Override
  public String toString() {
    return "the fake";
  }
}
