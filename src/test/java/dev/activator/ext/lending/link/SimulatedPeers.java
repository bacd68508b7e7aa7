package dev.activator.ext.lending.link;

import dev.activator.throttle.PeerSnapshot;
import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessenger.PeerEventListener;
import dev.activator.ext.lending.PeerMessage;
import dev.activator.throttle.PeerSnapshot.State;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.wire.PeerFrame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Activators on one virtual loop, and the network between them. */
final class SimulatedPeers {
  static final RevisionId REVISION = new RevisionId("shop", "cart");
  private static final Duration DELAY = Duration.ofMillis(1);

  final VirtualLoop loop = new VirtualLoop();
  private final Map<String, Activator> running = new HashMap<>();
  private final Set<List<String>> stalled = new HashSet<>();
  private long incarnations = 1;
  private Duration handshake = DELAY;

  /** One process. */
  final class Activator implements PeerEventListener {
    final String address;
    final PeerNetwork network;
    final List<String> events = new ArrayList<>();
    final List<Wire> wires = new ArrayList<>();
    String key = "k1";
    String keyProblem = "";
    boolean listens = true;
    int keysRead;
    /** When the key was read last. */
    List<String> beforeKey = List.of();

    Activator(String address) {
      this.address = address;
      this.network = new PeerNetwork(loop,
          new PeerNetwork.Self("pod-" + address, address, incarnations++), this::dial, () -> {
            keysRead++;
            beforeKey = List.copyOf(events);
            return CompletableFuture.completedFuture(keyProblem);
          }, new Random(1));
      network.listen(this);
      running.put(address, this);
      loop.execute(() -> network.start(listens));
    }

    private PeerSocket dial(String to, PeerSocket.Events events) {
      var near = new Wire(this, to, events);
      wires.add(near);
      loop.schedule(handshake, () -> near.connect());
      return near;
    }

    void sees(String... addresses) {
      network.publicAddresses(new PublicEndpointAddresses(REVISION, List.of(addresses), List.of()));
      loop.run();
    }

    void ends() {
      network.close();
      running.remove(address);
    }

    /** It and its kernel: nothing says that its connections are over. */
    void isReset() {
      running.remove(address);
      wires.forEach(wire -> {
        wire.silent = true;
        wire.cut("Connection reset");
      });
      network.close();
    }

    /** As with kill -9: the kernel closes its connections. */
    void isKilled() {
      running.remove(address);
      wires.forEach(wire -> {
        wire.silent = true;
        wire.finish();
        wire.cut("the other side closed it");
      });
      network.close();
    }

    PeerSnapshot view(String other) {
      return network.views().stream().filter(view -> view.address().equals(other)).findFirst()
          .orElseThrow();
    }

    @Override
    public void onActivators(Set<String> addresses) {
      events.add("activators " + addresses.stream().sorted().toList());
    }

    @Override
    public void onConnected(PeerId peer) {
      events.add("connected " + peer.address());
    }

    @Override
    public void onDisconnected(PeerId peer) {
      events.add("disconnected " + peer.address());
    }

    @Override
    public void onEnded(PeerId peer) {
      events.add("ended " + peer.address());
    }

    @Override
    public void onLegacy(String other) {
      events.add("legacy " + other);
    }

    @Override
    public void onReceived(PeerId peer, PeerMessage message) {
      events.add(peer.address() + " " + message);
    }
  }

  /** One end of a connection. */
  final class Wire implements PeerSocket {
    private final Activator owner;
    private final String to;
    private Events events;
    @Nullable Wire far;
    private boolean over;
    private boolean silent;

    Wire(Activator owner, String to, @Nullable Events events) {
      this.owner = owner;
      this.to = to;
      this.events = events;
    }

    private void connect() {
      var other = running.get(to);
      if (over || stalled.contains(List.of(owner.address, to))
          || stalled.contains(List.of(to, owner.address))) {
        // The answer to its SYN would not come either.
        return;
      }
      if (other == null) {
        ends(State.LEGACY, "connection refused");
      } else if (!other.key.equals(owner.key)) {
        ends(State.UNAUTHORISED, "another key");
      } else {
        var peer = new Wire(other, owner.address, null);
        other.wires.add(peer);
        peer.far = this;
        far = peer;
        peer.events = other.network.accepted(peer);
        peer.events.opened();
        events.opened();
      }
    }

    @Override
    public void send(PeerFrame frame) {
      var other = far;
      if (other == null || over || stalled.contains(List.of(owner.address, to))) {
        return;
      }
      loop.schedule(DELAY, () -> {
        if (!other.over && !other.silent) {
          other.events.received(frame);
        }
      });
    }

    @Override
    public void close() {
      if (!over) {
        over = true;
        var other = far;
        if (other != null && !silent && !stalled.contains(List.of(owner.address, to))) {
          loop.schedule(DELAY, () -> other.ends(State.UNREACHABLE, "the other side closed it"));
        }
      }
    }

    void finish() {
      if (far != null && !far.over) {
        far.events.finished();
      }
    }

    void cut(String why) {
      over = true;
      if (far != null) {
        far.ends(State.UNREACHABLE, why);
      }
    }

    private void ends(State state, String why) {
      if (!over) {
        over = true;
        events.closed(state, why);
      }
    }
  }

  Activator activator(String address) {
    return new Activator(address);
  }

  /** As in processes that are short of CPU. */
  void handshakesTake(Duration time) {
    handshake = time;
  }

  /** Packets from one to the other are dropped, and so are dials. */
  void stall(String from, String to) {
    stalled.add(List.of(from, to));
  }

  void heal() {
    stalled.clear();
  }

  void advance(Duration by) {
    loop.advance(by);
  }
}
