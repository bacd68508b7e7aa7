package dev.activator.testing.faults;

import dev.activator.loop.NettyTransport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import java.time.Duration;
import reactor.netty.NettyPipeline;

/**
 * One connection, and what can be done to it.
 *
 * <p><b>Threads.</b> Any thread may call in; all is done on the connection's.
 */
public final class Line {
  private static final long PATIENCE_MILLIS = 5_000;

  private final Channel channel;
  private final FaultClock clock;
  private final UndoActions undoActions;

  public Line(Channel channel, FaultClock clock, UndoActions undoActions) {
    this.channel = channel;
    this.clock = clock;
    this.undoActions = undoActions;
  }

  /** Sees to it that this fault happens. */
  public void arm(Fault.OnConnection fault) {
    onChannel(() -> {
      switch (fault) {
        case Fault.Reset(var when) -> at(when, () -> NettyTransport.reset(channel));
        case Fault.HalfOpen(var when, var duration) -> at(when, () -> stall(duration));
        case Fault.Fragments(int bytes, var pause) ->
          atSocket(new Fragmenter(bytes, pause, clock, undoActions));
        case Fault.Bursts(var period) -> atSocket(new Burster(period, clock));
        case Fault.IgnoredPings _,Fault.BinaryMessages _,Fault.CloseCode _ ->
          atMessages(new MessageTap(fault));
      }
    });
  }

  /** Sees to it that the events of the watch that begins now are changed. */
  void arm(Fault.OnEvents fault) {
    onChannel(() -> atMessages(switch (fault) {
      case Fault.RawUtf8 _ -> new EventTap(EncodedEvents::unescaped, null, clock);
      case Fault.Malformed(int number, var shape) ->
        new EventTap(EncodedEvents.malformed(number, shape), null, clock);
      case Fault.LateEvents(var pause) -> new EventTap(event -> event, pause, clock);
    }));
  }

  /** The same; returns once it is seen to. Not for the threads of connections. */
  public void armNow(Fault.OnConnection fault) {
    channel.eventLoop().submit(() -> arm(fault)).awaitUninterruptibly(PATIENCE_MILLIS);
  }

  /** Ends a connection without a word: what was not sent yet is lost. */
  public void reset() {
    onChannel(() -> NettyTransport.reset(channel));
  }

  /** Ends the connection after what was written before, where the answer would end. */
  public void endWithAnswer() {
    onChannel(() -> atMessages(new AnswerCut()));
  }

  private void at(When when, Runnable action) {
    switch (when) {
      case When.Now _ -> action.run();
      case When.AfterEvents(int events) -> atMessages(new EventCount(events, action));
      case When.AfterBytes(int bytes) -> atSocket(new ByteCount(bytes, action));
      case When.AfterTime(var time) -> clock.loop().schedule(time, () -> onChannel(action));
    }
  }

  private void stall(Duration duration) {
    atSocket(new Stall(duration, clock, undoActions));
  }

  /** Where bytes are. */
  private void atSocket(ChannelHandler handler) {
    channel.pipeline().addFirst(handler);
  }

  /** Where heads, contents and frames are. */
  private void atMessages(ChannelHandler handler) {
    channel.pipeline().addBefore(NettyPipeline.ReactiveBridge, null, handler);
  }

  /** Does nothing to a connection that has ended meanwhile: it has no handlers any more. */
  private void onChannel(Runnable task) {
    Runnable whileOpen = () -> {
      if (channel.isOpen()) {
        task.run();
      }
    };
    if (channel.eventLoop().inEventLoop()) {
      whileOpen.run();
    } else if (!channel.eventLoop().isShuttingDown()) {
      channel.eventLoop().execute(whileOpen);
    }
  }
}
