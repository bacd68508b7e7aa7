package dev.activator.testing.faults;

import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/** A call while it is under way, with what can be done to it. Any thread may look. */
final class OpenCall {
  private final Call call;
  private final Channel channel;
  private final Line line;
  private final UndoActions undoActions = new UndoActions();
  private volatile @Nullable FaultyOutlet outlet;

  OpenCall(Call call, Channel channel, FaultClock clock) {
    this.call = call;
    this.channel = channel;
    this.line = new Line(channel, clock, undoActions);
  }

  Call call() {
    return call;
  }

  Asked asked() {
    return call.asked();
  }

  Channel channel() {
    return channel;
  }

  /** Its connection. */
  Line line() {
    return line;
  }

  /** What undoes what is done to it and to its connection. */
  UndoActions undoActions() {
    return undoActions;
  }

  /** Where its events go, if it is a watch that is on. */
  @Nullable FaultyOutlet outlet() {
    return outlet;
  }

  void watches(FaultyOutlet opened) {
    outlet = opened;
  }
}
