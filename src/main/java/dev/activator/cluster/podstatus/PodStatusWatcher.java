package dev.activator.cluster.podstatus;

import dev.activator.cluster.FactHandler;
import dev.activator.cluster.policy.PodFailures.Patience;
import dev.activator.cluster.policy.PodStatus;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import dev.activator.revision.StartTrouble;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The revisions whose pods are looked at: those for which requests wait. Each time that is said, it
 * holds for {@link #LEASE} more, so that nobody must say when it ends.
 *
 * <p>
 * <b>Threads.</b> Any thread may say that requests wait. The state belongs to the loop.
 *
 * <p>
 * <b>Errors.</b> Where pods must not be listed, one line says so, once, and a start that fails is
 * heard of by the Revision's status alone. Where that cannot be told, it is asked again after a
 * pause.
 */
public final class PodStatusWatcher {
  private static final Logger log = LoggerFactory.getLogger(PodStatusWatcher.class);

  /** So long pods are looked at after the last word that requests wait. */
  static final Duration LEASE = Duration.ofSeconds(10);
  /** So many revisions at once: each is a watch of its own. */
  static final int MOST = 50;
  /** So long after a refusal it is not asked again, of the namespace that was refused. */
  static final Duration REFUSED = Duration.ofMinutes(10);
  /** So long after a question that got no answer it is not asked again, of the same namespace. */
  static final Duration UNANSWERED = Duration.ofSeconds(30);
  private static final Duration LONGEST_END = Duration.ofSeconds(5);

  /** Where pods are looked at. */
  interface Pods {
    /** Why those of a namespace cannot be looked at; may take its time, on a thread of its own. */
    void ask(String namespace, Consumer<Answer> done);

    /** Tells of them, until it is closed; the listener is called on the loop. */
    AutoCloseable follow(RevisionId revision, FactHandler.Listener<PodStatus> listener);
  }

  /** Whether pods may be looked at. */
  enum Answer {
    YES, FORBIDDEN, UNKNOWN
  }

  private final Loop loop;
  private final Pods pods;
  private final Patience patience;
  private final Consumer<StartTrouble> out;
  private final Map<RevisionId, Stay> stays = new HashMap<>();
  private final Map<String, Long> sparedUntilNanos = new HashMap<>();
  private boolean said;
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
      var known = stays.get(revision);
      if (known != null) {
        known.prolong();
      } else if (!closed && stays.size() < MOST && !isSpared(revision.namespace())) {
        stays.put(revision, new Stay(revision));
      }
    });
  }

  /** Nothing is looked at any more, once this returns. */
  public void close() {
    CompletableFuture.runAsync(() -> {
      closed = true;
      Map.copyOf(stays).values().forEach(Stay::end);
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
    if (!said) {
      said = true;
      log.info("We may not list pods in {} (403): why one does not start is known only from the"
          + " status of its Revision", namespace);
    }
  }

  /** One revision, while it is looked at. */
  private final class Stay {
    private final RevisionId revision;
    private final RevisionPodStatus rounds;
    private Loop.Timer end;
    private @Nullable AutoCloseable following;
    private boolean over;

    Stay(RevisionId revision) {
      this.revision = revision;
      this.rounds = new RevisionPodStatus(revision, loop, patience, this::told);
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
      if (!over) {
        rounds.changed(before, now);
      }
    }

    private void told(@Nullable StartFailure failure) {
      out.accept(new StartTrouble(revision, failure));
    }

    void prolong() {
      end.cancel();
      end = loop.schedule(LEASE, this::end);
    }

    void end() {
      over = true;
      end.cancel();
      stays.remove(revision);
      rounds.end();
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
