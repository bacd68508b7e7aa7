package dev.activator.ext.console;

import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of long waits: one line for each revision when a request has waited for ten seconds,
 * which says why, and one when none waits any more.
 *
 * <p><b>Threads.</b> Any may call {@link #onRequestWaits}; the state belongs to the loop.
 */
final class LongWaitLog {
  private static final Logger log = LoggerFactory.getLogger(LongWaitLog.class);
  private static final Duration LONG = Duration.ofSeconds(10);
  private static final Duration PERIOD = Duration.ofSeconds(1);

  /** With more revisions the cause is hardly that of each, so only their number is logged. */
  private static final int MAX_REVISIONS = 20;

  private final RevisionInspector inspector;
  private final Throttler throttler;
  private final Loop loop;
  private final ResettableTimer timer;
  private final List<Wait> waits = new ArrayList<>();
  private boolean isMoreLogged;

  private static final class Wait {
    private final RevisionId id;
    private Duration longest;

    private Wait(RevisionId id, Duration longest) {
      this.id = id;
      this.longest = longest;
    }
  }

  LongWaitLog(RevisionInspector inspector, Throttler throttler, Loop loop) {
    this.inspector = inspector;
    this.throttler = throttler;
    this.loop = loop;
    this.timer = new ResettableTimer(loop, this::removeEnded);
  }

  /** Call once a second while requests of this revision are queued. */
  void onRequestWaits(RevisionId id) {
    var oldest = oldestWait(id);
    if (oldest.compareTo(LONG) >= 0) {
      loop.execute(() -> record(id, oldest));
    }
  }

  /** Zero if no request is queued. */
  private Duration oldestWait(RevisionId id) {
    var view = throttler.view(id);
    return view == null || view.queued() == 0 ? Duration.ZERO : view.oldestWait();
  }

  private void record(RevisionId id, Duration oldest) {
    for (var wait : waits) {
      if (wait.id.equals(id)) {
        wait.longest = oldest.compareTo(wait.longest) > 0 ? oldest : wait.longest;
        return;
      }
    }
    if (waits.size() == MAX_REVISIONS) {
      if (!isMoreLogged) {
        log.warn("Requests of more than {} revisions have waited for {} s; the others are in"
            + " /actuator/activator only", MAX_REVISIONS, LONG.toSeconds());
      }
      isMoreLogged = true;
      return;
    }
    waits.add(new Wait(id, oldest));
    timer.within(PERIOD);
    inspector.snapshot(id).thenAccept(now -> {
      if (now != null && now.queued() > 0) {
        var diagnosis = WaitDiagnosis.of(now);
        log.warn("{} {}", diagnosis.summary().replaceAll("\\p{Cntrl}+", " "), diagnosis.whatToDo());
      }
    });
  }

  private void removeEnded() {
    for (var wait : List.copyOf(waits)) {
      if (oldestWait(wait.id).isZero()) {
        waits.remove(wait);
        log.info("No request waits for {} any more; the longest waited {} s", wait.id,
            wait.longest.toSeconds());
      }
    }
    if (waits.isEmpty()) {
      isMoreLogged = false;
    } else {
      timer.within(PERIOD);
    }
  }
}
