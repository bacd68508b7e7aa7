package dev.activator.cluster;

import dev.activator.cluster.decode.FactHandler;
import dev.activator.cluster.policy.PodFailures;
import dev.activator.cluster.policy.PodFailures.Patience;
import dev.activator.cluster.policy.PodStatus;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import dev.activator.revision.StartTrouble;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the pods of revisions for which requests wait, and tells when none of a revision's will
 * start as things are, and when that is over. Each word that requests wait holds for {@link #LEASE}.
 *
 * <p>
 * <b>Threads.</b> Any thread may say that requests wait. The state belongs to the loop.
 *
 * <p>
 * <b>Errors.</b> Where pods must not be listed, one line says so, once, and a failing start is known
 * from the Revision's status alone. Where that cannot be told, it is asked again after a pause.
 */
public final class PodStatusWatcher {
  private static final Logger log = LoggerFactory.getLogger(PodStatusWatcher.class);
  static final Duration LEASE = Duration.ofSeconds(10);
  /** Revisions at once: each is a watch of its own. */
  static final int MOST = 50;
  /** How long a namespace is left alone after a refusal. */
  static final Duration REFUSED = Duration.ofMinutes(10);
  /** How long a namespace is left alone after a question without an answer. */
  static final Duration UNANSWERED = Duration.ofSeconds(30);
  private static final Duration LONGEST_END = Duration.ofSeconds(5);

  /** Where pods are watched. */
  public interface Pods {
    /** Asks whether those of a namespace may be listed; answers on a thread of its own. */
    void ask(String namespace, Consumer<Answer> done);

    /** Tells of those of a revision, until it is closed; the listener is called on the loop. */
    AutoCloseable follow(RevisionId revision, FactHandler.Listener<PodStatus> listener);
  }

  /** Whether pods may be listed. */
  public enum Answer {
    YES, FORBIDDEN, UNKNOWN
  }

  private final Loop loop;
  private final Pods pods;
  private final Patience patience;
  private final Consumer<StartTrouble> out;
  private final Map<RevisionId, Watched> watched = new HashMap<>();
  private final Map<String, Long> sparedUntilNanos = new HashMap<>();
  private boolean refusalLogged;
  private boolean closed;

  public PodStatusWatcher(Loop loop, Pods pods, Patience patience, Consumer<StartTrouble> out) {
    this.loop = loop;
    this.pods = pods;
    this.patience = patience;
    this.out = out;
  }

  /** Requests wait for this revision, and nothing takes them. */
  public void waitedFor(RevisionId revision) {
    loop.execute(() -> {
      var known = watched.get(revision);
      if (known != null) {
        known.prolong();
      } else if (!closed && watched.size() < MOST && !isSpared(revision.namespace())) {
        watched.put(revision, new Watched(revision));
      }
    });
  }

  /** Nothing is watched any more once this returns. */
  public void close() {
    CompletableFuture.runAsync(() -> {
      closed = true;
      Map.copyOf(watched).values().forEach(Watched::end);
    }, loop).completeOnTimeout(null, LONGEST_END.toNanos(), TimeUnit.NANOSECONDS)
        .handle((_, _) -> null).join();
  }

  private boolean isSpared(String namespace) {
    var until = sparedUntilNanos.get(namespace);
    return until != null && until - loop.nanoTime() > 0;
  }

  private void spare(String namespace, Duration pause) {
    sparedUntilNanos.put(namespace, loop.nanoTime() + pause.toNanos());
  }

  private void refused(String namespace) {
    spare(namespace, REFUSED);
    if (!refusalLogged) {
      refusalLogged = true;
      log.info("We may not list pods in {} (403): why one does not start is known only from the"
          + " status of its Revision", namespace);
    }
  }

  /** One revision, while its pods are watched. */
  private final class Watched {
    private final RevisionId revision;
    private PodFailures failures = PodFailures.EMPTY;
    private @Nullable StartFailure told;
    private Loop.Timer end;
    private Loop.@Nullable Timer next;
    private @Nullable AutoCloseable following;
    private boolean over;

    Watched(RevisionId revision) {
      this.revision = revision;
      this.end = loop.schedule(LEASE, this::end);
      pods.ask(revision.namespace(), answer -> loop.execute(() -> answered(answer)));
    }

    private void answered(Answer answer) {
      if (over) {
        return;
      }
      switch (answer) {
        case YES -> following = pods.follow(revision, this::changed);
        case FORBIDDEN -> {
          refused(revision.namespace());
          end();
        }
        case UNKNOWN -> {
          spare(revision.namespace(), UNANSWERED);
          end();
        }
      }
    }

    private void changed(@Nullable PodStatus before, @Nullable PodStatus now) {
      if (over) {
        return;
      }
      if (now != null) {
        failures = failures.seen(now, time());
      } else if (before != null) {
        failures = failures.gone(before.name());
      }
      look();
    }

    private void look() {
      if (next != null) {
        next.cancel();
        next = null;
      }
      var left = failures.left(time(), patience);
      if (left != null && left.isPositive()) {
        next = loop.schedule(left, this::look);
      }
      var now = failures.failure(time(), patience);
      if (!Objects.equals(now, told)) {
        told = now;
        out.accept(new StartTrouble(revision, now));
      }
    }

    private Duration time() {
      return Duration.ofNanos(loop.nanoTime());
    }

    void prolong() {
      end.cancel();
      end = loop.schedule(LEASE, this::end);
    }

    void end() {
      over = true;
      end.cancel();
      watched.remove(revision);
      failures = PodFailures.EMPTY;
      look();
      if (following != null) {
        close(following);
      }
    }

    private static void close(AutoCloseable following) {
      try {
        following.close();
      } catch (Exception bug) {
        log.error("A watch of pods does not end", bug);
      }
    }
  }
}
