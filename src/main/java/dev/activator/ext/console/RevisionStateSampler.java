package dev.activator.ext.console;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Samples the states of all revisions for the {@link RevisionHourHistory}, even if no page is open. It
 * reads a few revisions in each task, so that no event loop is late for a request.
 *
 * <p><b>Threads.</b> Confined to its loop.
 */
public final class RevisionStateSampler {
  static final Duration PERIOD = Duration.ofSeconds(10);
  private static final Logger log = LoggerFactory.getLogger(RevisionStateSampler.class);
  private static final int AT_ONCE = 50;

  private final Loop loop;
  private final RevisionInspector inspector;
  private final RevisionCardData.Source cards;
  private final RevisionHourHistory hours;
  private final Runnable afterwards;
  private final ResettableTimer timer;
  private boolean stopped;

  /** @param afterwards called when all revisions have been sampled */
  public RevisionStateSampler(Loop loop, RevisionInspector inspector, RevisionCardData.Source cards,
      RevisionHourHistory hours, Runnable afterwards) {
    this.loop = loop;
    this.inspector = inspector;
    this.cards = cards;
    this.hours = hours;
    this.afterwards = afterwards;
    this.timer = new ResettableTimer(loop, this::sample);
  }

  public void start() {
    loop.execute(() -> timer.within(PERIOD));
  }

  public void stop() {
    loop.execute(() -> {
      stopped = true;
      timer.cancel();
    });
  }

  private void sample() {
    if (!inspector.isSynced()) {
      timer.within(PERIOD);
      return;
    }
    sample(List.copyOf(inspector.revisions()), 0);
  }

  private void sample(List<RevisionId> all, int from) {
    if (stopped) {
      return;
    }
    int to = Math.min(all.size(), from + AT_ONCE);
    inspector.snapshots(all.subList(from, to)).whenCompleteAsync((found, failure) -> {
      if (failure != null) {
        log.debug("The states of revisions could not be sampled", failure);
      } else {
        hours.sampled(found.stream().map(cards::sample).toList(), to == all.size());
      }
      if (to < all.size()) {
        sample(all, to);
      } else if (!stopped) {
        afterwards.run();
        timer.within(PERIOD);
      }
    }, loop);
  }
}
