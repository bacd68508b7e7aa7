package dev.activator.standalone.autoscaler;

import dev.activator.revision.ScalingView;
import dev.activator.standalone.autoscaler.Autoscaler.Term;
import dev.activator.loop.ResettableTimer;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the views of one workload for one term: each to readers, and those that differ to the
 * listener, at most one a second.
 *
 * <p><b>Threads.</b> The term's loop. Any thread may call {@link #lastView}.
 */
final class ScalingViewPublisher {
  private static final Duration PERIOD = Duration.ofSeconds(1);
  /** A start that is quicker is published once, when it has ended. */
  private static final Duration DELAY = Duration.ofMillis(100);

  private final Term term;
  private final Supplier<Views> views;
  private final ResettableTimer timer;
  private volatile @Nullable ScalingView lastView;
  private @Nullable ScalingView published;
  private long publishedAt;

  /**
   * @param isKnown whether the API has answered, so that a first view may be published
   * @param forListener the view without the desired replicas that are not written yet. The write
   *     may never happen, and then the next leader would think that another client had set the
   *     replicas.
   */
  record Views(boolean isKnown, ScalingView current, ScalingView forListener) {}

  ScalingViewPublisher(Term term, Supplier<Views> views) {
    this.term = term;
    this.views = views;
    this.timer = new ResettableTimer(term.loop(), this::publish);
  }

  /** Publishes the first view at once, and others after a moment, and a second after the last. */
  void schedule() {
    timer.within(
        published == null
            ? 0
            : Math.max(DELAY.toNanos(), publishedAt + PERIOD.toNanos() - term.now()));
  }

  void stop() {
    timer.cancel();
  }

  void publish() {
    var now = views.get();
    if (published == null && !now.isKnown) {
      return;
    }
    lastView = now.current;
    if (published == null || !published.equalsButExplanation(now.forListener)) {
      published = now.forListener;
      publishedAt = term.now();
      term.listener().changed(now.forListener);
    }
  }

  /** The last view, at most a second old; null before the first. */
  @Nullable ScalingView lastView() {
    return lastView;
  }
}
