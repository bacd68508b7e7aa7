package dev.activator.ext.lending.link;

import dev.activator.ext.lending.PeerId;
import dev.activator.ext.lending.PeerMessenger;
import dev.activator.ext.lending.PeerEventListener;
import dev.activator.ext.lending.PeerMessage;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.PeerSnapshot.Load;
import dev.activator.throttle.PeerSnapshot.State;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.loop.policy.Backoff;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.wire.PeerFrame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The links to the other activators, one to each. Both sides may open a link: the side with the
 * smaller address at once, the other side a little later. If both do, the link of the smaller
 * address stays.
 *
 * <p><b>Threads.</b> Any may call {@link #publicAddresses}, {@link #send}, {@link #views}, the
 * counts, and the methods for loads. The rest is confined to the loop.
 *
 * <p><b>Errors.</b> Links that fail are retried; the rest of the activator works without them.
 */
public final class PeerNetwork implements PeerMessenger, PeerSnapshot.Source {
  /**
   * This activator.
   *
   * @param pod the name of the pod
   * @param address as in Endpoints
   * @param incarnation differs for each process
   */
  public record Self(String pod, String address, long incarnation) {}

  /**
   * @param hello the timeout for opening a connection and for HELLO; the first handshake of a
   *     process that is short of CPU takes seconds
   * @param turn how long the side with the larger address waits before it dials
   * @param ping the time between pings
   * @param silence the time without a frame after which a link is given up
   * @param legacy the time until an activator without links is tried again
   * @param noKey the time until the key is read again after a failure
   * @param refused the time after a lost link before which a refused connection does not prove that
   *     the process has ended
   * @param lost how long a lost peer is dialled that is no longer a member
   */
  public record Timings(Duration hello, Duration turn, Duration ping, Duration silence,
      Duration legacy, Duration noKey, Duration refused, Duration lost) {
    public static final Timings DEFAULT = new Timings(Duration.ofSeconds(15), Duration.ofSeconds(3),
        Duration.ofSeconds(2), Duration.ofSeconds(6), Duration.ofSeconds(60),
        Duration.ofSeconds(60), Duration.ofSeconds(15), Duration.ofMinutes(11));
  }

  private static final Logger log = LoggerFactory.getLogger(PeerNetwork.class);
  private static final String NOT_TRIED = "not tried yet";
  private static final double JITTER = 0.5;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(5);
  /** The minimum pause between two reads of the key for connections from others. */
  private static final Duration KEY_PERIOD = Duration.ofSeconds(10);

  /** Loads are requested once a second, while a page of the console is open. */
  private static final Duration MAX_LOAD_AGE = Duration.ofSeconds(5);

  private final Loop loop;
  private final Self self;
  private final PeerSocket.Dialer dialer;
  private final Supplier<CompletableFuture<String>> key;
  private final Timings timings;
  private final RandomGenerator random;
  private PeerEventListener listener = new Ignored();
  private final ActivatorAddresses members;
  private final Map<String, Peer> peers = new TreeMap<>();
  /** Accepted links that are neither identified nor refused yet. */
  private final Set<PeerLink> unidentified = new HashSet<>();
  private final PeerLink.Counts counts = new PeerLink.Counts(new LongAdder(), new LongAdder());
  private final PeerLink.Owner owner = new Owner();
  private volatile Consumer<Duration> onRoundTrip = _ -> {
  };
  private volatile List<PeerSnapshot> views = List.of();
  private volatile Supplier<@Nullable Load> ownLoad = () -> null;
  private Set<String> activators = Set.of();
  private boolean started;
  private boolean listens;
  private boolean hasKey;
  private boolean keyRequested;
  private long keyForAcceptedNanos;
  private String keyProblem = "";
  private boolean closed;

  /** @param key reads the current key; completes with the problem, or with an empty text */
  PeerNetwork(Loop loop, Self self, PeerSocket.Dialer dialer,
      Supplier<CompletableFuture<String>> key, Timings timings, RandomGenerator random) {
    this.loop = loop;
    this.self = self;
    this.dialer = dialer;
    this.key = key;
    this.timings = timings;
    this.random = random;
    this.members = new ActivatorAddresses(self.address);
    this.keyForAcceptedNanos = loop.nanoTime() - KEY_PERIOD.toNanos();
  }

  /** The loop on which the listener is called. */
  public Loop loop() {
    return loop;
  }

  /** Call before the start. */
  public void listen(PeerEventListener to) {
    listener = to;
  }

  /** Sets a listener that is called on the loop with each measured round trip. */
  public void onRoundTrip(Consumer<Duration> listener) {
    onRoundTrip = listener;
  }

  /**
   * Call with each change of public Endpoints. The addresses are empty when the public Endpoints
   * are deleted.
   */
  public void publicAddresses(PublicEndpointAddresses now) {
    loop.execute(() -> {
      if (members.changed(now) && started) {
        membersChanged();
      }
    });
  }

  /**
   * Starts to link. Call when all existing addresses are known.
   *
   * @param nowListens whether others can connect to this activator
   */
  void start(boolean nowListens) {
    listens = nowListens;
    started = true;
    membersChanged();
  }

  private void membersChanged() {
    if (closed) {
      return;
    }
    var now = members.others();
    List.copyOf(peers.values()).stream()
        .filter(peer -> peer.isMember && !now.contains(peer.address)).forEach(Peer::left);
    for (var address : now) {
      var peer = peers.computeIfAbsent(address, Peer::new);
      if (!peer.isMember) {
        peer.joined();
      }
    }
    publish();
    if (!hasKey && !now.isEmpty()) {
      // Read after the list is passed on, because requests may wait for the list. Needed even if
      // the other side dials, because a side without the key refuses connections.
      requestKey();
    }
  }

  /** Whether this is the address of an activator, or of a former one whose link was lost. */
  boolean isKnown(String address) {
    return peers.containsKey(address);
  }

  @Override
  public void send(PeerId peer, PeerMessage message) {
    loop.execute(() -> {
      var to = peers.get(peer.address());
      if (to != null && to.link != null && to.link.id().equals(peer)) {
        to.link.send(message);
      }
    });
  }

  /** Call when another activator has connected. */
  PeerSocket.Events accepted(PeerSocket socket) {
    var link = link(null);
    link.use(socket);
    return link;
  }

  private PeerLink link(@Nullable String address) {
    var link = new PeerLink(loop, self, timings, owner, counts, address);
    unidentified.add(link);
    return link;
  }

  /**
   * Reads the key again after a connection from another activator. Does so only once in a while,
   * because strangers may connect as often as they like.
   */
  void requestKeyForAccepted() {
    long now = loop.nanoTime();
    if (now - keyForAcceptedNanos >= KEY_PERIOD.toNanos()) {
      keyForAcceptedNanos = now;
      requestKey();
    }
  }

  private void requestKey() {
    if (keyRequested || closed) {
      return;
    }
    keyRequested = true;
    key.get().whenCompleteAsync((problem, failure) -> {
      keyRequested = false;
      keyRead(failure == null ? problem : String.valueOf(failure.getMessage()));
    }, loop);
  }

  private void keyRead(String problem) {
    if (closed) {
      return;
    }
    if (!problem.equals(keyProblem)) {
      keyProblem = problem;
      if (!problem.isEmpty()) {
        log.warn("There are no links to other activators, so that each uses its own share of the"
            + " pods alone: {}", problem);
      }
    }
    hasKey |= problem.isEmpty();
    List.copyOf(peers.values()).forEach(peer -> peer.keyRead(problem));
    publish();
  }

  @Override
  public List<PeerSnapshot> views() {
    return views;
  }

  /** The number of frames that were sent. */
  public long sent() {
    return counts.sent().sum();
  }

  public long received() {
    return counts.received().sum();
  }

  /** @param own provides the load of this activator; called on the loop */
  public void answerLoads(Supplier<Load> own) {
    ownLoad = own::get;
  }

  @Override
  public void requestLoads() {
    loop.execute(() -> peers.values().forEach(peer -> {
      if (peer.link != null) {
        peer.link.requestLoad();
      }
    }));
  }

  private void publish() {
    views = peers.values().stream().map(Peer::view).toList();
    var all = new TreeSet<>(peers.keySet());
    all.add(self.address);
    if (!all.equals(activators)) {
      activators = Set.copyOf(all);
      listener.onActivators(activators);
    }
  }

  /** Announces the end to all peers and ends the links. Call when no request is left. */
  void close() {
    closed = true;
    var all = new ArrayList<>(unidentified);
    peers.values().forEach(peer -> {
      peer.redial.cancel();
      if (peer.link != null) {
        peer.link.sayBye();
        all.add(peer.link);
      }
    });
    all.forEach(PeerLink::end);
    unidentified.clear();
    peers.clear();
    views = List.of();
  }

  private final class Owner implements PeerLink.Owner {
    @Override
    public String refusal(PeerLink link, PeerFrame.Hello hello) {
      var peer = peers.get(hello.getAddress());
      if (peer == null) {
        // The sender may know of this activator before this one knows of the sender. It will
        // connect again.
        return hello.getAddress() + " is the address of no activator";
      }
      return peer.prefersAnother(link, hello) ? "there is another connection" : "";
    }

    @Override
    public void linked(PeerLink link) {
      unidentified.remove(link);
      var peer = peers.get(link.address());
      if (peer != null) {
        peer.linked(link);
      }
    }

    @Override
    public void received(PeerLink link, PeerMessage message) {
      listener.onReceived(link.id(), message);
    }

    @Override
    public void measured(Duration roundTrip) {
      onRoundTrip.accept(roundTrip);
      publish();
    }

    @Override
    public boolean listens() {
      return listens;
    }

    @Override
    public @Nullable Load load() {
      return ownLoad.get();
    }

    @Override
    public void received(PeerLink link, Load load) {
      var peer = peers.get(link.address());
      if (peer != null && peer.link == link) {
        peer.load = load;
        peer.loadNanos = loop.nanoTime();
        publish();
      }
    }

    @Override
    public void closed(PeerLink link, State state, String why) {
      unidentified.remove(link);
      var peer = peers.get(link.address());
      if (peer == null) {
        log.debug("Refused a link: {}", why);
      } else {
        peer.closed(link, state, why);
      }
    }
  }

  private static final class Ignored implements PeerEventListener {
    @Override
    public void onActivators(Set<String> addresses) {}

    @Override
    public void onConnected(PeerId peer) {}

    @Override
    public void onDisconnected(PeerId peer) {}

    @Override
    public void onEnded(PeerId peer) {}

    @Override
    public void onLegacy(String address) {}

    @Override
    public void onReceived(PeerId peer, PeerMessage message) {}
  }

  /** An activator, or a former one whose link was lost and that may still have requests. */
  private final class Peer {
    private final String address;
    private final boolean isLarger;
    private final Backoff backoff = new Backoff(FIRST_PAUSE, MAX_PAUSE, JITTER, random);
    private final ResettableTimer redial = new ResettableTimer(loop, this::dial);
    private boolean isMember;
    private boolean waitsForKey;
    private State state = State.UNREACHABLE;
    private String problem = NOT_TRIED;
    private @Nullable PeerLink link;
    private @Nullable PeerLink attempt;
    private long attemptNanos;
    /** The process whose link was lost, unless it is known to have ended. */
    private @Nullable PeerId lost;
    private long lostNanos;
    /** See {@link PeerLink#mayHaveEnded}. */
    private boolean lostByItsEnd;
    private boolean wasLinked;
    private @Nullable Load load;
    private long loadNanos;

    Peer(String address) {
      this.address = address;
      this.isLarger = self.address.compareTo(address) < 0;
    }

    void joined() {
      isMember = true;
      if (link == null) {
        redial.within(isLarger ? Duration.ZERO : timings.turn);
      }
    }

    /** The activator has left the list. Its link stays open, so that permits can be returned. */
    void left() {
      isMember = false;
      removeIfOver();
      if (lost != null) {
        redial.within(Duration.ZERO);
      }
    }

    private void removeIfOver() {
      if (!isMember && link == null && (lost == null
          || loop.nanoTime() - lostNanos > timings.lost.toNanos())) {
        redial.cancel();
        if (attempt != null) {
          unidentified.remove(attempt);
          attempt.end();
        }
        peers.remove(address);
      }
    }

    void dial() {
      removeIfOver();
      if (closed || peers.get(address) != this || link != null || attempt != null) {
        publish();
        return;
      }
      if (!hasKey) {
        waitsForKey = true;
        requestKey();
        return;
      }
      redial.cancel();
      var next = link(address);
      attempt = next;
      attemptNanos = loop.nanoTime();
      next.use(dialer.dial(address, next));
    }

    void keyRead(String why) {
      if (waitsForKey) {
        waitsForKey = false;
        if (why.isEmpty()) {
          dial();
        } else if (link == null) {
          failed(State.UNAUTHORISED, why);
        }
      }
    }

    /**
     * Whether to refuse this connection in favour of another one. If two connections lead to the
     * same process, both sides keep the one that the side with the smaller address opened. If that
     * side opened both, they keep the newer one.
     */
    boolean prefersAnother(PeerLink to, PeerFrame.Hello hello) {
      boolean isOfSmaller = to.isDialed() == isLarger;
      var other = link;
      return other == null
          ? attempt != null && attempt != to && !isOfSmaller && isYoung()
          : other.incarnation() == hello.getIncarnation() && !isOfSmaller
              && other.isDialed() != to.isDialed();
    }

    /**
     * Whether this attempt began recently. A firewall may have dropped the packets of an older one,
     * which must not keep the other side out.
     */
    private boolean isYoung() {
      return loop.nanoTime() - attemptNanos < timings.turn.toNanos();
    }

    void linked(PeerLink now) {
      redial.cancel();
      backoff.reset();
      if (attempt == now) {
        attempt = null;
      }
      if (link != null) {
        var before = link;
        before.end();
        disconnected(before);
      }
      if (lost != null && !lost.equals(now.id())) {
        ended();
      }
      lost = null;
      link = now;
      wasLinked = true;
      state = State.LINKED;
      problem = "";
      log.info("Linked with the activator {} at {}", now.pod(), address);
      publish();
      listener.onConnected(now.id());
    }

    private void disconnected(PeerLink from) {
      link = null;
      load = null;
      lost = from.id();
      lostNanos = loop.nanoTime();
      lostByItsEnd = from.mayHaveEnded();
      listener.onDisconnected(from.id());
    }

    /** Call when the process is known to have ended, even if no link was lost. */
    void ended() {
      var process = lost;
      lost = null;
      if (process != null) {
        listener.onEnded(process);
      }
    }

    void closed(PeerLink which, State why, String text) {
      if (which == attempt) {
        attempt = null;
        if (link == null) {
          failed(why, text);
        }
      } else if (which == link) {
        state = State.UNREACHABLE;
        problem = text;
        disconnected(which);
        if (which.saidBye()) {
          log.info("The activator {} at {} has ended", which.pod(), address);
          ended();
        } else {
          log.warn("The link with the activator {} at {} is lost: {}", which.pod(), address, text);
        }
        redial.within(backoff.next());
        removeIfOver();
      }
      publish();
    }

    private void failed(State why, String text) {
      boolean isRefused = why == State.LEGACY;
      long left = lostNanos + timings.refused.toNanos() - loop.nanoTime();
      if (isRefused && (left <= 0 || lostByItsEnd && !isMember)) {
        // A process stops listening as its last step, so it has ended.
        ended();
      }
      // The process has ended, but was linked. While its address is listed, the next process is
      // expected there.
      var now = isRefused && wasLinked ? State.UNREACHABLE : why;
      if (now != state || problem.equals(NOT_TRIED)) {
        log.info("No link with the activator at {}: {}", address, text);
        if (now == State.LEGACY) {
          listener.onLegacy(address);
        }
      }
      state = now;
      problem = text;
      if (now == State.UNAUTHORISED) {
        // The Secret may contain another key by now.
        hasKey = false;
      }
      redial.within(switch (now) {
        case LEGACY -> Backoff.longer(timings.legacy, JITTER, random);
        case UNAUTHORISED ->
          keyProblem.isEmpty() ? backoff.next() : Backoff.longer(timings.noKey, JITTER, random);
        default -> {
          var pause = backoff.next();
          // Redials no later than when a refused connection proves that the process has ended.
          yield lost != null && left > 0 && left < pause.toNanos() ? Duration.ofNanos(left) : pause;
        }
      });
      removeIfOver();
    }

    PeerSnapshot view() {
      var now = link;
      return new PeerSnapshot(address, now == null ? "" : now.pod(), state, problem,
          now == null ? Duration.ZERO : now.roundTrip(),
          loop.nanoTime() - loadNanos > MAX_LOAD_AGE.toNanos() ? null : load);
    }
  }
}
