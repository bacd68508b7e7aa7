package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessenger.PeerEventListener;
import dev.activator.ext.lending.OwnershipState.KnownActivators;
import dev.activator.throttle.PermitSharing.SharedPods;
import dev.activator.ext.lending.PeerMessage.Beat;
import dev.activator.ext.lending.PeerMessage.Issued;
import dev.activator.ext.lending.PeerMessage.OfRevision;
import dev.activator.ext.lending.PeerMessage.View;
import dev.activator.ext.lending.PeerMessage.Yield;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.PermitSharing;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lends permits to other activators, and borrows theirs. It has one {@link RevisionLending} for
 * each revision, and the state of the other activators for all of them.
 *
 * <p>No permits are lent before {@link #start}, or while this activator is the only one.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PermitLending implements PermitSharing, KeyNotices, PeerEventListener {
  static final Duration BEAT_PERIOD = Duration.ofSeconds(2);
  /**
   * After this number of ticks an activator that never sent a beat counts as one that does not
   * lend. A process that is suspended right after its start must continue before that, because the
   * others then use the same pods.
   */
  private static final int SILENT_TICKS = 45;
  private static final Duration TICK = Duration.ofSeconds(1);

  private final String ownAddress;
  private final ConcurrentMap<RevisionId, RevisionLending> revisions = new ConcurrentHashMap<>();
  private final ConcurrentMap<PeerId, PeerActivator> peers = new ConcurrentHashMap<>();
  private final Set<String> legacy = new HashSet<>();
  /**
   * Ticks are counted instead of time, because a process that was suspended has received no
   * messages in that time.
   */
  private final Map<String, Integer> silentTicks = new HashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  private final Counts counts = new Counts();
  private Set<String> activators = Set.of();
  private volatile KnownActivators known = KnownActivators.UNKNOWN;
  /**
   * Whether a revision has waited in vain for a list of activators with this one. Then the other
   * revisions do not wait.
   */
  private volatile boolean unlisted;
  private volatile @Nullable Started started;
  private volatile Consumer<RevisionId> onUnknownRevision = _ -> {
  };
  private volatile Consumer<Notice> onNotice = _ -> {
  };

  /**
   * The permits and messages since the start. The same permit may be lent many times.
   *
   * @param savedSeconds an estimate of the time that lending saved requests from waiting; at most the
   *     time for which they ran on borrowed permits
   */
  record Counts(LongAdder lent, LongAdder borrowed, LongAdder recallsSent,
      LongAdder recallsReceived, LongAdder savedSeconds) {
    Counts() {
      this(new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder());
    }
  }

  private record Started(Loop loop, PeerMessenger links, ResettableTimer beats,
      ResettableTimer silence) {}

  /** @param ownAddress as in the public Endpoints */
  public PermitLending(String ownAddress) {
    this.ownAddress = ownAddress;
  }

  /** Call before any method of {@link PeerEventListener}. */
  public void start(Loop loop, PeerMessenger links) {
    started = new Started(loop, links, new ResettableTimer(loop, this::beat),
        new ResettableTimer(loop, this::checkSilence));
  }

  boolean isStarted() {
    return started != null;
  }

  boolean isUnlisted() {
    return unlisted;
  }

  void unlisted(boolean now) {
    unlisted = now;
  }

  private Started started() {
    return Objects.requireNonNull(started, "not started");
  }

  private long nanoTime() {
    return started().loop().nanoTime();
  }

  @Override
  public void onUnknownRevision(Consumer<RevisionId> listener) {
    onUnknownRevision = listener;
  }

  @Override
  public RevisionLending revision(LocalRevision revision, SharedPods pods) {
    return new RevisionLending(revision, ownAddress, pods, this);
  }

  /** Opens the lending of a revision. None with that id may be open already. */
  synchronized void opened(RevisionId id, RevisionLending revision) {
    revisions.put(id, revision);
    var now = known;
    var earlier = List.copyOf(peers.values());
    if (now.isKnown()) {
      revision.loop().execute(() -> {
        revision.onActivatorsChanged(now);
        earlier.forEach(revision::addEarlierPeer);
      });
    }
  }

  @Nullable RevisionLending find(RevisionId id) {
    return revisions.get(id);
  }

  synchronized void closed(RevisionId id, RevisionLending revision) {
    revisions.remove(id, revision);
  }

  @Override
  public synchronized void onActivators(Set<String> addresses) {
    activators = Set.copyOf(addresses);
    legacy.retainAll(activators);
    publish();
  }

  @Override
  public synchronized void onConnected(PeerId id) {
    legacy.remove(id.address());
    // Two processes cannot have the same address, so the earlier one has ended.
    List.copyOf(peers.keySet()).stream()
        .filter(other -> other.address().equals(id.address()) && !other.equals(id))
        .forEach(this::onEnded);
    var peer = peers.computeIfAbsent(id, it -> new PeerActivator(it, nanoTime()));
    peer.connected(nanoTime());
    publish();
    send(peer, peer.nextBeat(nanoTime()));
    each(revision -> revision.onConnected(peer));
    started().loop().execute(() -> started().beats().within(BEAT_PERIOD));
  }

  @Override
  public synchronized void onDisconnected(PeerId id) {
    var peer = peers.get(id);
    if (peer != null) {
      peer.disconnected();
      each(revision -> revision.onDisconnected(id));
      watchSilence();
    }
  }

  @Override
  public synchronized void onEnded(PeerId id) {
    var peer = peers.remove(id);
    if (peer != null) {
      peer.disconnected();
      each(revision -> revision.onEnded(id));
      publish();
    }
  }

  @Override
  public synchronized void onLegacy(String address) {
    if (legacy.add(address)) {
      publish();
    }
  }

  @Override
  public void onReceived(PeerId from, PeerMessage message) {
    var peer = peers.get(from);
    if (peer == null) {
      return;
    }
    switch (message) {
      case Beat beat -> {
        boolean isNew = !peer.hasSentBeat();
        var lease = peer.lease();
        if (peer.received(beat, nanoTime())) {
          send(peer, peer.nextBeat(nanoTime()));
        }
        if (isNew) {
          publish();
        }
        if (peer.lease() != lease) {
          each(RevisionLending::onQueue);
        }
      }
      case Issued(var notice) -> onNotice.accept(notice);
      case OfRevision news -> {
        if (!revisions.containsKey(news.revision())) {
          onUnknownRevision.accept(news.revision());
        }
        var revision = find(news.revision());
        if (revision != null) {
          revision.loop().execute(() -> revision.onReceived(peer, news));
        } else if (news instanceof View view) {
          answerUnknown(peer, view);
        }
      }
    }
  }

  /**
   * Answers that this activator does not use the revision's pods, and will send a view before it
   * does.
   */
  private synchronized void answerUnknown(PeerActivator peer, View view) {
    if (!revisions.containsKey(view.revision())) {
      send(peer, new Yield(view.revision(), view.epoch(), 0, Map.of()));
    }
  }

  private synchronized void publish() {
    var silent = new HashSet<String>();
    silentTicks.keySet().retainAll(activators);
    for (var address : activators) {
      if (address.equals(ownAddress) || legacy.contains(address)
          || peers.values().stream()
              .anyMatch(peer -> peer.id().address().equals(address) && peer.hasSentBeat())) {
        silentTicks.remove(address);
      } else if (silentTicks.computeIfAbsent(address, _ -> 0) >= SILENT_TICKS) {
        silent.add(address);
      } else {
        watchSilence();
      }
    }
    silent.addAll(legacy);
    var next = new KnownActivators(!activators.isEmpty(), activators, peers.keySet(), silent);
    if (!next.equals(known)) {
      known = next;
      each(revision -> revision.onActivatorsChanged(next));
    }
  }

  private synchronized void checkSilence() {
    silentTicks.replaceAll((_, ticks) -> ticks + 1);
    for (var peer : List.copyOf(peers.values())) {
      if (!peer.isConnected()) {
        watchSilence();
        forgetIfOver(peer);
      }
    }
    publish();
  }

  private void watchSilence() {
    started().loop().execute(() -> started().silence().within(TICK));
  }

  /**
   * Forgets a peer that the cluster no longer lists as an activator, when its leases and requests
   * must be over, even if its process still runs.
   */
  private void forgetIfOver(PeerActivator peer) {
    int ticks = peer.awayTicks(!activators.contains(peer.id().address()));
    if (ticks > 0 && revisions.values().stream()
        .allMatch(revision -> ticks > revision.longestUse().dividedBy(TICK))) {
      onEnded(peer.id());
    }
  }

  private void each(Consumer<RevisionLending> action) {
    revisions.values()
        .forEach(revision -> revision.loop().execute(() -> action.accept(revision)));
  }

  private void beat() {
    for (var peer : peers.values()) {
      if (peer.isConnected()) {
        started().beats().within(BEAT_PERIOD);
        send(peer, peer.nextBeat(nanoTime()));
      }
    }
  }

  @Override
  public void send(Notice notice) {
    peers.values().forEach(peer -> send(peer, new Issued(notice)));
  }

  @Override
  public void listen(Consumer<Notice> listener) {
    onNotice = listener;
  }

  void send(PeerActivator peer, PeerMessage message) {
    if (peer.isConnected()) {
      started().links().send(peer.id(), message);
    }
  }

  Counts counts() {
    return counts;
  }

  /** The number of permits that this activator has lent to others. */
  public int lent() {
    return revisions.values().stream().mapToInt(RevisionLending::lent).sum();
  }

  /** The number of permits that this activator has borrowed from others. */
  public int borrowed() {
    return revisions.values().stream().mapToInt(RevisionLending::borrowed).sum();
  }

  /** A new number for an epoch or an account; unique in this process. */
  long nextNumber() {
    return numbers.incrementAndGet();
  }
}
