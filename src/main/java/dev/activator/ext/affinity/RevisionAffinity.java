package dev.activator.ext.affinity;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.activator.ext.affinity.AffinityCookie.Session;
import dev.activator.ext.affinity.policy.AffinityKey;
import dev.activator.ext.affinity.policy.AffinityRule;
import dev.activator.ext.affinity.policy.AffinityRule.Mode;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestTimeline;
import dev.activator.observability.RequestTimeline.Attribute;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.PodChoice;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The affinity of one revision. It makes the choices of requests with a key, and remembers which pod
 * has issued which key. A key that no pod has issued belongs to the first pod of its order.
 *
 * <p>It remembers a bounded number of keys; beyond that, those that are used least are forgotten.
 *
 * <p><b>Threads.</b> Any.
 */
final class RevisionAffinity implements PodChoice.Maker {
  static final int MAX_KEYS = 100_000;
  private static final int FIRST_ERROR = 400;

  /** What a request of a revision with affinity has. */
  private record OfRequest(RevisionAffinity affinity, @Nullable KeyedChoice choice) {}

  private static final Attribute<OfRequest> OF_REQUEST = new Attribute<>();
  private static final RevisionCount UNCOUNTED = new RevisionCount() {
    @Override
    public void arrived() {
      // The autoscaler does not see the request.
    }

    @Override
    public void left() {
      // It has not arrived.
    }
  };

  private final RevisionId revision;
  private final AffinityRule rule;
  private final KeyNotices notices;
  private final AffinityCookie cookie;
  private final AffinityCounts counts;
  private final Cache<AffinityKey, Destination> issued;
  private final KeyCounts keyCounts = new KeyCounts();
  private final OfRequest withoutKey = new OfRequest(this, null);

  RevisionAffinity(RevisionId revision, AffinityRule rule, AffinityCookie cookie,
      KeyNotices notices, AffinityCounts counts) {
    this.revision = revision;
    this.notices = notices;
    this.rule = rule;
    this.cookie = cookie;
    this.counts = counts;
    this.issued = Caffeine.newBuilder().maximumSize(MAX_KEYS).executor(Runnable::run)
        .evictionListener((_, _, _) -> counts.evicted()).build();
  }

  @Override
  public boolean isExclusive() {
    return rule.mode() == Mode.EXCLUSIVE;
  }

  @Override
  public @Nullable PodChoice of(QueuedCaller caller) {
    var request = caller.timeline();
    return request == null ? null : ofRequest(request).choice;
  }

  /**
   * The count of a request: one by one, or with others of its key. One that is rejected because its
   * pod is gone does not count while there are no pods: it would start one for nothing.
   */
  RevisionCount count(RequestTimeline request, boolean hasPods, RevisionCount each, Loop loop) {
    boolean mayBeRejected = rule.isRejectedWithoutPod() && !hasPods;
    var choice = isExclusive() || mayBeRejected ? ofRequest(request).choice : null;
    if (choice == null) {
      return each;
    }
    if (mayBeRejected) {
      return issued.getIfPresent(choice.key) == null ? each : UNCOUNTED;
    }
    return keyCounts.of(choice.key, each, loop);
  }

  private OfRequest ofRequest(RequestTimeline request) {
    var known = OF_REQUEST.of(request);
    if (known != null && known.affinity == this) {
      return known;
    }
    var value = rule.keyOf(request::headers, request.path());
    var session = value == null || !rule.isOwnCookie() ? null : cookie.read(value);
    // A caller without a valid cookie of ours gets any pod, and then a cookie for that.
    var choice = value == null || rule.isOwnCookie() && session == null
        ? null
        : new KeyedChoice(AffinityKey.of(value), session);
    var of = choice == null ? withoutKey : new OfRequest(this, choice);
    OF_REQUEST.set(request, of);
    return of;
  }

  /** The number of keys with requests, if a pod serves one at a time. */
  int keysInFlight() {
    return keyCounts.keys();
  }

  /** The affinity of the revision that gets the request; null if it has none. */
  private static @Nullable OfRequest of(RequestTimeline request) {
    var of = OF_REQUEST.of(request);
    if (of == null || !request.hasFallenBack()) {
      return of;
    }
    var before = request.revision();
    return before != null && of.affinity.revision.equals(before.id()) ? null : of;
  }

  RevisionId revision() {
    return revision;
  }

  /** The pod that issued each key. */
  Collection<Destination> issuers() {
    return issued.asMap().values();
  }

  long keys() {
    issued.cleanUp();
    return issued.estimatedSize();
  }

  /** Call when a request has a permit. */
  static void onGranted(RequestTimeline request) {
    var of = of(request);
    if (of == null || of.choice == null) {
      return;
    }
    var first = of.choice.first;
    if (first != null) {
      of.affinity.counts.granted(first.equals(request.pod()));
    }
  }

  /** Call when a pod begins to respond. The rest of the response may be missing. */
  static void onResponding(RequestTimeline request) {
    var of = of(request);
    var pod = request.pod();
    if (of == null || pod == null) {
      return;
    }
    var rule = of.affinity.rule;
    if (rule.isOwnCookie() && of.choice == null) {
      request.addResponseHeader("Set-Cookie",
          AffinityCookie.header(rule.name(), of.affinity.cookie.next(pod),
              request.secure() || "https".equals(request.header("X-Forwarded-Proto"))));
    } else if (!rule.isOwnCookie() && request.responseStatus() < FIRST_ERROR) {
      of.affinity.issued(pod, rule.keysIssued(request::responseHeaders), of.choice);
    }
  }

  private void issued(Destination pod, List<String> values, @Nullable KeyedChoice choice) {
    for (var value : values) {
      var key = AffinityKey.of(value);
      if (choice != null && choice.isOfAnother(key, pod)) {
        // The pod repeats the key of a request that its own pod had no room for.
        continue;
      }
      // Pods repeat the key with each response; a write costs more than a read.
      if (!pod.equals(issued.getIfPresent(key))) {
        issued.put(key, pod);
        notices.send(new KeyNotices.Notice(revision, key.high(), key.low(), pod));
      }
    }
  }

  /** Another activator has seen which pod issued a key. */
  void onNotice(KeyNotices.Notice notice) {
    issued.put(new AffinityKey(notice.high(), notice.low()), notice.pod());
  }

  private final class KeyedChoice implements PodChoice {
    private final AffinityKey key;
    /** Null unless the key is a cookie of ours. */
    private final @Nullable Session session;
    /** The pod that the key belongs to; null while there is none. */
    private volatile @Nullable Destination first;
    private volatile boolean isLost;
    /** Whether {@link #first} has issued the key. */
    private volatile boolean isIssued;

    KeyedChoice(AffinityKey key, @Nullable Session session) {
      this.key = key;
      this.session = session;
    }

    @Override
    public Wanted wanted(List<Destination> pods) {
      var issuer = issuer(pods);
      // The list is sorted.
      boolean isGone = issuer == null
          ? session != null && !pods.isEmpty()
          : Collections.binarySearch(pods, issuer) < 0;
      if (isGone) {
        if (!isLost) {
          isLost = true;
          counts.podGone();
        }
        if (rule.isRejectedWithoutPod()) {
          return GONE;
        }
        issuer = null;
      }
      var now = issuer != null || pods.isEmpty() ? issuer : key.first(pods);
      first = now;
      isIssued = issuer != null;
      return now != null && rule.mode() == Mode.STRICT ? new Only(now) : ANY;
    }

    private @Nullable Destination issuer(List<Destination> pods) {
      var known = issued.getIfPresent(key);
      if (known == null && session != null) {
        for (var pod : pods) {
          if (session.isAt(pod)) {
            issued.put(key, pod);
            return pod;
          }
        }
      }
      return known;
    }

    /** Whether this is the request's key, and belongs to another pod that has issued it. */
    boolean isOfAnother(AffinityKey answered, Destination pod) {
      return isIssued && answered.equals(key) && !pod.equals(first);
    }

    @Override
    public AffinityKey tenant() {
      return key;
    }

    @Override
    public long score(Destination pod) {
      return pod.equals(first) ? Long.MAX_VALUE : key.score(pod);
    }
  }
}
