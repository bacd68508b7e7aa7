package dev.activator.ext.lending.link;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessage;
import dev.activator.ext.lending.link.PeerNetwork.Self;
import dev.activator.throttle.PeerSnapshot.State;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.wire.PeerFrame;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The protocol on one open connection to another activator: both sides send HELLO, and then
 * exchange pings and messages. Events after the end of the link are ignored.
 *
 * <p><b>Threads.</b> Confined to the loop of {@link PeerNetwork}.
 */
final class PeerLink implements PeerSocket.Events {
  private static final int PROTOCOL = 1;
  /**
   * The timeout for opening a connection and for HELLO. The first handshake of a process that is
   * short of CPU takes seconds.
   */
  static final Duration HELLO_TIMEOUT = Duration.ofSeconds(15);
  private static final Duration PING_PERIOD = Duration.ofSeconds(2);
  /** The time without a frame after which a link is given up. */
  private static final Duration SILENCE = Duration.ofSeconds(6);

  /** Counts the frames of all links. */
  record Counts(LongAdder sent, LongAdder received) {}

  private final Loop loop;
  private final Self self;
  private final PeerNetwork network;
  private final Counts counts;
  private final boolean dialed;
  private final ResettableTimer deadline;
  private final ResettableTimer pings;
  private @Nullable PeerSocket socket;
  private String address;
  private PeerFrame.Hello hello = PeerFrame.Hello.getDefaultInstance();
  private boolean isLinked;
  private boolean saidBye;
  private boolean finished;
  private boolean over;
  private long receivedNanos;
  private Duration roundTrip = Duration.ZERO;

  /** @param address the address that this side dialled; null if the other side dialled */
  PeerLink(Loop loop, Self self, PeerNetwork network, Counts counts, @Nullable String address) {
    this.loop = loop;
    this.self = self;
    this.network = network;
    this.counts = counts;
    this.dialed = address != null;
    this.address = address == null ? "" : address;
    this.deadline = new ResettableTimer(loop, this::late);
    this.pings = new ResettableTimer(loop, this::ping);
    deadline.within(HELLO_TIMEOUT);
  }

  void use(PeerSocket opened) {
    socket = opened;
  }

  /** The address of the other activator. It is empty until HELLO if the other activator dialled. */
  String address() {
    return address;
  }

  String pod() {
    return hello.getPod();
  }

  PeerId id() {
    return new PeerId(hello.getAddress(), pod() + "/" + Long.toHexString(hello.getIncarnation()));
  }

  PeerState.Link asState() {
    return new PeerState.Link(id(), dialed);
  }

  /** Whether the other process has announced its end. */
  boolean saidBye() {
    return saidBye;
  }

  /**
   * Whether a later refused connection proves that the process has ended. It does if the other
   * kernel ended this link in order, and now refuses a port that was open.
   */
  boolean mayHaveEnded() {
    return finished && hello.getListens();
  }

  /** The last measured round trip; zero before the first. */
  Duration roundTrip() {
    return roundTrip;
  }

  private void late() {
    long left = isLinked
        ? SILENCE.toNanos() - (loop.nanoTime() - receivedNanos)
        : 0;
    if (left > 0) {
      deadline.within(left);
    } else {
      closed(State.UNREACHABLE, isLinked
          ? "silent for " + SILENCE.toSeconds() + " s"
          : "no HELLO within " + HELLO_TIMEOUT.toSeconds() + " s");
    }
  }

  /**
   * Sends HELLO if this side dialled. The other side answers with its own HELLO when it accepts.
   */
  @Override
  public void opened() {
    if (dialed && !over) {
      sayHello();
    }
  }

  private void sayHello() {
    send(PeerFrame.newBuilder().setHello(PeerFrame.Hello.newBuilder().setPod(self.pod())
        .setIncarnation(self.incarnation()).setProtocol(PROTOCOL).setAddress(self.address())
        .setListens(network.listens())));
  }

  void sayBye() {
    send(PeerFrame.newBuilder().setBye(PeerFrame.Bye.getDefaultInstance()));
  }

  void send(PeerMessage message) {
    send(PeerCodec.encode(message));
  }

  void requestLoad() {
    send(PeerFrame.newBuilder().setLoadRequest(PeerFrame.LoadRequest.getDefaultInstance()));
  }

  private void send(PeerFrame.Builder frame) {
    if (socket != null) {
      counts.sent.increment();
      socket.send(frame.build());
    }
  }

  @Override
  public void received(PeerFrame frame) {
    if (over) {
      return;
    }
    counts.received.increment();
    receivedNanos = loop.nanoTime();
    if (!isLinked) {
      identify(frame);
      return;
    }
    switch (frame.getContentCase()) {
      case PING -> send(PeerFrame.newBuilder()
          .setPong(PeerFrame.Pong.newBuilder().setSent(frame.getPing().getSent())));
      case PONG -> {
        roundTrip = Duration.ofNanos(Math.max(0, receivedNanos - frame.getPong().getSent()));
        network.onMeasured(roundTrip);
      }
      case LOAD_REQUEST -> {
        var own = network.load();
        if (own != null) {
          send(PeerCodec.encode(own));
        }
      }
      case HELLO -> closed(State.UNREACHABLE, "it sent HELLO twice");
      case BYE -> {
        saidBye = true;
        closed(State.UNREACHABLE, "it has ended");
      }
      default -> message(frame);
    }
  }

  private void identify(PeerFrame frame) {
    hello = frame.getHello();
    String problem = !frame.hasHello()
        ? "it did not begin with HELLO"
        : hello.getProtocol() < PROTOCOL
            ? "it speaks version " + hello.getProtocol()
            : dialed && !hello.getAddress().equals(address)
                ? "it is at " + hello.getAddress()
                : network.refusal(this, hello);
    if (!problem.isEmpty()) {
      closed(State.UNREACHABLE, problem);
      return;
    }
    address = hello.getAddress();
    isLinked = true;
    deadline.cancel();
    deadline.within(SILENCE);
    pings.within(0);
    if (!dialed) {
      sayHello();
    }
    network.onLinked(this);
  }

  private void message(PeerFrame frame) {
    PeerMessage message;
    try {
      if (frame.hasLoad()) {
        network.onLoad(this, PeerCodec.decode(frame.getLoad()));
        return;
      }
      message = PeerCodec.decode(frame);
    } catch (IllegalArgumentException e) {
      closed(State.UNREACHABLE, "a malformed message: " + e.getMessage());
      return;
    }
    if (message != null) {
      network.onReceived(this, message);
    }
  }

  private void ping() {
    send(PeerFrame.newBuilder().setPing(PeerFrame.Ping.newBuilder().setSent(loop.nanoTime())));
    pings.within(PING_PERIOD);
  }

  @Override
  public void finished() {
    finished = true;
  }

  @Override
  public void closed(State state, String why) {
    if (!over) {
      end();
      network.onClosed(this, state, why);
    }
  }

  /** Ends the link without a call to the network. */
  void end() {
    over = true;
    deadline.cancel();
    pings.cancel();
    if (socket != null) {
      socket.close();
    }
  }
}
