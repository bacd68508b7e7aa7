package dev.activator.ext.lending.link;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessenger;
import dev.activator.ext.lending.PeerMessenger.PeerEventListener;
import dev.activator.ext.lending.PeerMessage;
import dev.activator.ext.lending.link.PeerState.Action;
import dev.activator.ext.lending.link.PeerState.Event;
import dev.activator.ext.lending.link.PeerState.Pause;
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

  private static final Logger log = LoggerFactory.getLogger(PeerNetwork.class);
  private static final double JITTER = 0.5;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(5);
  private static final Duration LEGACY_PAUSE = Duration.ofMinutes(1);
  private static final Duration NO_KEY_PAUSE = Duration.ofMinutes(1);
  /** The minimum pause between two reads of the key for connections from others. */
  private static final Duration KEY_PERIOD = Duration.ofSeconds(10);

  /** Loads are requested once a second, while a page of the console is open. */
  private static final Duration MAX_LOAD_AGE = Duration.ofSeconds(5);

  private final Loop loop;
  private final Self self;
  private final PeerSocket.Dialer dialer;
  private final Supplier<CompletableFuture<String>> key;
  private final RandomGenerator random;
  private PeerEventListener listener = new PeerEventListener() {
  };
  private final ActivatorAddresses listed;
  private final Map<String, Peer> peers = new TreeMap<>();
  /** Accepted links that are neither identified nor refused yet. */
  private final Set<PeerLink> unidentified = new HashSet<>();
  private final PeerLink.Counts counts = new PeerLink.Counts(new LongAdder(), new LongAdder());
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
      Supplier<CompletableFuture<String>> key, RandomGenerator random) {
    this.loop = loop;
    this.self = self;
    this.dialer = dialer;
    this.key = key;
    this.random = random;
    this.listed = new ActivatorAddresses(self.address);
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
      if (listed.changed(now) && started) {
        listChanged();
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
    listChanged();
  }

  private void listChanged() {
    if (closed) {
      return;
    }
    var now = listed.others();
    List.copyOf(peers.values()).stream()
        .filter(peer -> peer.state.isListed() && !now.contains(peer.address))
        .forEach(peer -> peer.on(new Event.Unlisted()));
    for (var address : now) {
      var peer = peers.computeIfAbsent(address, Peer::new);
      if (!peer.state.isListed()) {
        peer.on(new Event.Listed());
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
    var link = new PeerLink(loop, self, this, counts, address);
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
    List.copyOf(peers.values()).forEach(peer -> peer.on(new Event.KeyRead(problem)));
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

  // What links call.

  /** The reason why the sender of this HELLO is refused; empty if it is accepted. */
  String refusal(PeerLink link, PeerFrame.Hello hello) {
    var peer = peers.get(hello.getAddress());
    if (peer == null) {
      // The sender may know of this activator before this one knows of the sender. It will
      // connect again.
      return hello.getAddress() + " is the address of no activator";
    }
    return peer.state.prefersAnother(link.asState(), loop.nanoTime())
        ? "there is another connection"
        : "";
  }

  void onLinked(PeerLink link) {
    unidentified.remove(link);
    var peer = peers.get(link.address());
    if (peer != null) {
      peer.linked(link);
    }
  }

  void onReceived(PeerLink link, PeerMessage message) {
    listener.onReceived(link.id(), message);
  }

  void onMeasured(Duration roundTrip) {
    onRoundTrip.accept(roundTrip);
    publish();
  }

  /** Whether other activators can connect to this one. */
  boolean listens() {
    return listens;
  }

  /** The load of this activator; null if it sends none. */
  @Nullable Load load() {
    return ownLoad.get();
  }

  void onLoad(PeerLink link, Load load) {
    var peer = peers.get(link.address());
    if (peer != null && peer.link == link) {
      peer.load = load;
      peer.loadNanos = loop.nanoTime();
      publish();
    }
  }

  void onClosed(PeerLink link, State state, String why) {
    unidentified.remove(link);
    var peer = peers.get(link.address());
    if (peer == null) {
      log.debug("Refused a link: {}", why);
    } else {
      peer.closed(link, state, why);
    }
  }

  /** Does what {@link PeerState} decides for one peer. */
  private final class Peer {
    private final String address;
    private final Backoff backoff = new Backoff(FIRST_PAUSE, MAX_PAUSE, JITTER, random);
    private final ResettableTimer redial = new ResettableTimer(loop, this::dialDue);
    private PeerState state;
    private @Nullable PeerLink link;
    private @Nullable PeerLink attempt;
    private @Nullable Load load;
    private long loadNanos;

    Peer(String address) {
      this.address = address;
      this.state = PeerState.initial(self.address.compareTo(address) < 0);
    }

    void on(Event event) {
      var step = state.on(event, loop.nanoTime());
      state = step.state();
      step.actions().forEach(this::act);
    }

    private void act(Action action) {
      switch (action) {
        case Action.Redial(var pause, var limitNanos) ->
          redial.within(Math.min(limitNanos, length(pause).toNanos()));
        case Action.Connected(var process) -> listener.onConnected(process);
        case Action.Disconnected(var process) -> listener.onDisconnected(process);
        case Action.Ended(var process) -> listener.onEnded(process);
        case Action.NotLinked(var why, var problem) -> {
          log.info("No link with the activator at {}: {}{}", address, problem,
              why == State.LEGACY ? ", so that it counts as one that lends no permits" : "");
          if (why == State.LEGACY) {
            listener.onLegacy(address);
          }
        }
        case Action.Call.DIAL -> dial();
        case Action.Call.READ_KEY -> requestKey();
        case Action.Call.FORGET_KEY -> hasKey = false;
        case Action.Call.FORGET -> forget();
      }
    }

    private Duration length(Pause pause) {
      return switch (pause) {
        case NONE -> Duration.ZERO;
        case TURN -> PeerState.TURN;
        case BACKOFF -> backoff.next();
        case LEGACY -> Backoff.longer(LEGACY_PAUSE, JITTER, random);
        case NO_KEY -> Backoff.longer(NO_KEY_PAUSE, JITTER, random);
      };
    }

    private void dialDue() {
      on(new Event.DialDue(hasKey));
      publish();
    }

    private void dial() {
      redial.cancel();
      var next = link(address);
      attempt = next;
      next.use(dialer.dial(address, next));
    }

    private void forget() {
      redial.cancel();
      if (attempt != null) {
        unidentified.remove(attempt);
        attempt.end();
      }
      peers.remove(address);
    }

    void linked(PeerLink now) {
      redial.cancel();
      backoff.reset();
      if (attempt == now) {
        attempt = null;
      }
      if (link != null) {
        link.end();
      }
      link = now;
      load = null;
      log.info("Linked with the activator {} at {}", now.pod(), address);
      on(new Event.Linked(now.asState()));
      publish();
    }

    void closed(PeerLink which, State why, String text) {
      if (which == attempt) {
        attempt = null;
        on(new Event.AttemptFailed(why, text, keyProblem.isEmpty()));
      } else if (which == link) {
        link = null;
        load = null;
        if (which.saidBye()) {
          log.info("The activator {} at {} has ended", which.pod(), address);
        } else {
          log.warn("The link with the activator {} at {} is lost: {}", which.pod(), address, text);
        }
        on(new Event.LinkClosed(text, which.saidBye(), which.mayHaveEnded()));
      }
      publish();
    }

    PeerSnapshot view() {
      var now = link;
      var status = state.status();
      return new PeerSnapshot(address, now == null ? "" : now.pod(), status.state(),
          status.problem(), now == null ? Duration.ZERO : now.roundTrip(),
          loop.nanoTime() - loadNanos > MAX_LOAD_AGE.toNanos() ? null : load);
    }
  }
}
