package dev.activator.cluster.podstatus;

import dev.activator.cluster.FactHandler;
import dev.activator.cluster.policy.PodFailures;
import dev.activator.cluster.policy.PodFailures.Patience;
import dev.activator.cluster.policy.PodStatus;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the pods of one revision for as long as requests wait for it, and says when none will
 * start as things are, and when that is not so any more.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the loop.
 */
final class RevisionPodStatus implements FactHandler.Listener<PodStatus> {
  private final RevisionId revision;
  private final Loop loop;
  private final Patience patience;
  private final Consumer<@Nullable StartFailure> out;
  private PodFailures pods = PodFailures.EMPTY;
  private @Nullable StartFailure told;
  private Loop.@Nullable Timer next;

  /** @param out told of each change; null for "they may start" */
  RevisionPodStatus(RevisionId revision, Loop loop, Patience patience,
      Consumer<@Nullable StartFailure> out) {
    this.revision = revision;
    this.loop = loop;
    this.patience = patience;
    this.out = out;
  }

  RevisionId revision() {
    return revision;
  }

  @Override
  public void changed(@Nullable PodStatus before, @Nullable PodStatus now) {
    if (now != null) {
      pods = pods.seen(now, time());
    } else if (before != null) {
      pods = pods.gone(before.name());
    }
    look();
  }

  /** It is not looked at any more: nothing is known. */
  void end() {
    pods = PodFailures.EMPTY;
    look();
  }

  private void look() {
    if (next != null) {
      next.cancel();
      next = null;
    }
    var left = pods.left(time(), patience);
    if (left != null && left.isPositive()) {
      next = loop.schedule(left, this::look);
    }
    tell(pods.failure(time(), patience));
  }

  private void tell(@Nullable StartFailure now) {
    if (!Objects.equals(now, told)) {
      told = now;
      out.accept(now);
    }
  }

  private Duration time() {
    return Duration.ofNanos(loop.nanoTime());
  }
}
