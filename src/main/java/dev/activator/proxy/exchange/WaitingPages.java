package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.Outcome;
import dev.activator.observability.RequestRecord;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.WaitStatus;
import dev.activator.proxy.policy.WaitingPage;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.Admission.Ending;
import dev.activator.throttle.Admission.Permit;
import dev.activator.throttle.Admission.QueueEntry;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.Admission.Rejection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers navigations with a page while their revision starts. A page holds no request, so a
 * stand-in is queued and counted for all pages of a revision until they no longer ask.
 *
 * <p><b>Threads.</b> Any.
 */
public final class WaitingPages {
  /** Browsers slow the timers of hidden tabs to one a second, or one a minute. */
  private static final Duration KEEP = Duration.ofSeconds(65);

  private final WaitingPage.Mode mode;
  private final Supplier<WaitingPageTemplate> template;
  private final Function<RevisionId, WaitStatus> status;
  private final BiConsumer<RequestRecord, Outcome> startEnded;
  private final Map<RevisionId, StandIn> standIns = new ConcurrentHashMap<>();

  /**
   * @param mode of revisions without the annotation
   * @param status any thread may ask
   * @param startEnded gets the first navigation, which ended long before
   */
  public WaitingPages(WaitingPage.Mode mode, Supplier<WaitingPageTemplate> template,
      Function<RevisionId, WaitStatus> status, BiConsumer<RequestRecord, Outcome> startEnded) {
    this.mode = mode;
    this.template = template;
    this.status = status;
    this.startEnded = startEnded;
  }

  WaitStatus status(RevisionId id) {
    return status.apply(id);
  }

  private boolean isOn(Revision revision) {
    return mode.with(revision.annotations()) == WaitingPage.Mode.AUTO;
  }

  boolean isFor(HttpRequestRecord request, Revision revision) {
    return isOn(revision)
        && WaitingPage.isFor(WaitingPage.Mode.AUTO, request.method(), request.fields());
  }

  LocalResponse page(RequestDispatcher dispatcher, HttpRequestRecord request, Revision revision,
      int retryAfterSeconds) {
    keep(dispatcher, revision, request);
    return template.get().page(status(revision.id()), retryAfterSeconds);
  }

  /** @param off if the revision has no such page */
  LocalResponse poll(RequestDispatcher dispatcher, Revision revision, LocalResponse off) {
    if (!isOn(revision)) {
      return off;
    }
    var now = status(revision.id());
    if (!now.ready()) {
      keep(dispatcher, revision, null);
    }
    return WaitingPage.status(now);
  }

  private void keep(RequestDispatcher dispatcher, Revision revision,
      @Nullable HttpRequestRecord navigation) {
    var fresh = new StandIn(dispatcher, revision, navigation);
    var known = standIns.putIfAbsent(revision.id(), fresh);
    if (known == null) {
      fresh.start();
    } else {
      known.lastAsked = dispatcher.loop().nanoTime();
    }
  }

  private final class StandIn implements QueuedCaller {
    private final RequestDispatcher dispatcher;
    private final Revision revision;
    private final @Nullable HttpRequestRecord navigation;
    private volatile long lastAsked;
    private @Nullable QueueEntry entry;
    private Loop.@Nullable Timer timer;

    StandIn(RequestDispatcher dispatcher, Revision revision,
        @Nullable HttpRequestRecord navigation) {
      this.dispatcher = dispatcher;
      this.revision = revision;
      this.navigation = navigation;
      this.lastAsked = dispatcher.loop().nanoTime();
    }

    void start() {
      dispatcher.counter().arrived(revision.id());
      try {
        switch (dispatcher.throttle().apply(revision, this)) {
          case Permit now -> granted(now);
          case QueueEntry later -> {
            entry = later;
            timer = loop().schedule(KEEP, this::giveUpIfForgotten);
          }
        }
      } catch (RuntimeException e) {
        // Or the revision would have demand for ever.
        end(Outcome.INTERNAL);
        throw e;
      }
    }

    private void giveUpIfForgotten() {
      var queued = entry;
      if (queued == null) {
        return;
      }
      long left = KEEP.toNanos() - (loop().nanoTime() - lastAsked);
      if (left > 0) {
        timer = loop().schedule(Duration.ofNanos(left), this::giveUpIfForgotten);
      } else {
        queued.giveUp();
        end(Outcome.CALLER_GONE);
      }
    }

    @Override
    public Loop loop() {
      return dispatcher.loop();
    }

    @Override
    public long maxWaitNanos() {
      return Long.MAX_VALUE;
    }

    @Override
    public void granted(Permit permit) {
      permit.release(Ending.UNCOUNTED);
      end(Outcome.WAITING_PAGE);
    }

    @Override
    public void rejected(Rejection reason) {
      end(HttpRequestRecord.outcome(dispatcher.failure(reason)));
    }

    private void end(Outcome how) {
      entry = null;
      if (timer != null) {
        timer.cancel();
      }
      standIns.remove(revision.id(), this);
      dispatcher.counter().left(revision.id());
      if (navigation != null) {
        startEnded.accept(navigation, how);
      }
    }
  }
}
