package dev.activator.proxy.hostile;

import dev.activator.proxy.hostile.CallerScript.Leaving;
import dev.activator.proxy.hostile.CallerScript.Reading;
import dev.activator.testing.network.SimulatedPeer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A caller's connection and the exchanges on it. */
public abstract class Caller {
  /** One exchange as the caller sees it. */
  static final class Call {
    final int index;
    final CallerScript script;
    /** How many of its steps are done: the head, each part, and the end. */
    int done;
    boolean ended;
    Message response = new Message();

    Call(int index, CallerScript script) {
      this.index = index;
      this.script = script;
    }

    int steps() {
      return 1 + script.parts() + (script.hasBody() && script.completes() ? 1 : 0);
    }

    boolean isSent() {
      return done >= steps();
    }

    boolean hasBegun() {
      return done > 0;
    }
  }

  final SimulatedPeer peer;
  final List<Call> calls = new ArrayList<>();
  private final Consumer<String> story;
  private boolean left;
  private int pauses;

  Caller(SimulatedPeer peer, Consumer<String> story) {
    this.peer = peer;
    this.story = story;
  }

  /** Does one thing, if there is one to do now. */
  boolean step() {
    if (left) {
      return false;
    }
    for (var call : ready()) {
      if (!call.script.stays() && call.done >= call.script.leaveAfter() && call.hasBegun()
          && !call.ended) {
        leave(call);
        return true;
      }
      if (!call.isSent() && !call.ended && maySend(call)) {
        tell(call, describe(call));
        send(call);
        call.done++;
        return true;
      }
    }
    return resume();
  }

  private static String describe(Call call) {
    return call.done == 0
        ? "sends the head"
        : call.done <= call.script.parts() ? "sends part " + call.done : "ends the body";
  }

  private void leave(Call call) {
    tell(call, call.script.leaving() + " " + call.script.code());
    call.ended = true;
    switch (call.script.leaving()) {
      case ENDS_OUTPUT -> peer.endOutput();
      case CLOSES -> peer.close();
      case RESETS -> peer.reset();
      case RESETS_STREAM -> resetStream(call);
      case STAYS -> throw new IllegalStateException();
    }
    left = call.script.leaving() != Leaving.RESETS_STREAM || peer.isGone();
  }

  /** A caller that pauses reads on at some time. */
  private boolean resume() {
    if (pauses < 3 && calls.stream().anyMatch(call -> call.script.reading() == Reading.PAUSES)) {
      pauses++;
      return true;
    }
    return false;
  }

  /** Takes what has come; whether there was anything. */
  boolean read() {
    boolean never = calls.stream().anyMatch(call -> call.script.reading() == Reading.NEVER);
    boolean paused = pauses < 3
        && calls.stream().anyMatch(call -> call.script.reading() == Reading.PAUSES);
    boolean any = !never && !paused && peer.unread() > 0;
    if (any) {
      readBytes(peer.read());
    }
    if (peer.end() != SimulatedPeer.End.OPEN && peer.unread() == 0 && !peer.isGone()) {
      connectionEnded(peer.end());
    }
    return any;
  }

  boolean isAnswered() {
    return calls.stream()
        .allMatch(call -> !call.hasBegun() || outcome(call) != Outcome.OPEN || call.ended);
  }

  Outcome outcome(Call call) {
    var response = call.response;
    boolean over = peer.end() != SimulatedPeer.End.OPEN || response.reset != Message.NOT_RESET;
    if (!response.hasHead) {
      return over ? Outcome.UNANSWERED : Outcome.OPEN;
    }
    if (!response.complete) {
      return over ? Outcome.BROKEN_OFF : Outcome.OPEN;
    }
    return response.field("x-pod") == null ? Outcome.REFUSED : Outcome.COMPLETE;
  }

  void tell(Call call, String what) {
    story.accept("caller of /" + call.index + " " + what);
  }

  /** The calls that may do something, in the order in which they may. */
  abstract List<Call> ready();

  abstract boolean maySend(Call call);

  abstract void send(Call call);

  abstract void resetStream(Call call);

  abstract void readBytes(byte[] bytes);

  abstract void connectionEnded(SimulatedPeer.End end);

  /** What came of the other protocol. */
  abstract byte[] otherProtocol();
}
