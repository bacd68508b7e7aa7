package dev.activator.standalone;

import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.revision.ScalingView;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Has the pods of workloads watched that take long to start, so that their statuses say why. The requests
 * for them may wait at other activators, and a minimum starts pods without any request.
 *
 * <p><b>Threads.</b> Any thread may call. The state belongs to the loop.
 */
final class SlowStarts {
  static final Duration PERIOD = Duration.ofSeconds(5);
  /** A pod that has not failed until then only takes its time. */
  private static final int MAX_TIMES = 24;

  private final Loop loop;
  private final Consumer<RevisionId> watch;
  private final Map<RevisionId, Loop.Timer> waking = new HashMap<>();

  /** @param watch has the pods watched for at least {@link #PERIOD} */
  SlowStarts(Loop loop, Consumer<RevisionId> watch) {
    this.loop = loop;
    this.watch = watch;
  }

  void changed(ScalingView view) {
    loop.execute(() -> {
      if (view.state() != ScaleState.WAKING) {
        end(view.id());
      } else if (!waking.containsKey(view.id())) {
        next(view.id(), MAX_TIMES);
      }
    });
  }

  /** Call when a workload is no longer scaled here. */
  void gone(RevisionId id) {
    loop.execute(() -> end(id));
  }

  /** Call when a term begins. */
  void reset() {
    loop.execute(() -> List.copyOf(waking.keySet()).forEach(this::end));
  }

  private void end(RevisionId id) {
    var timer = waking.remove(id);
    if (timer != null) {
      timer.cancel();
    }
  }

  private void next(RevisionId id, int times) {
    waking.put(id, loop.schedule(PERIOD, () -> {
      watch.accept(id);
      if (times > 1) {
        next(id, times - 1);
      }
    }));
  }
}
