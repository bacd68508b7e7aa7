package dev.activator.proxy;

import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Writes down the steps of all requests, and insists that they come in an order that makes sense. */
public final class SeenRequests implements RequestObserver {
  /** One that has ended, and how it got there. */
  public record Seen(RequestTimeline request, List<Step> steps) {}

  private final Map<RequestTimeline, List<Step>> open = new ConcurrentHashMap<>();
  public final BlockingQueue<Seen> ended = new LinkedBlockingQueue<>();
  /** Set on each request before it is sent, and on each response. */
  volatile String mark = "";
  /** Run, on its event loop, before each request is sent. */
  volatile Runnable whenForwarding = () -> {
  };
  private volatile String wrong = "";
  private volatile RequestObserver other = (_, _) -> {
  };
  private final Queue<WeakReference<RequestTimeline>> arrived = new ConcurrentLinkedQueue<>();

  @Override
  public void saw(Step step, RequestTimeline request) {
    if (step == Step.ARRIVED) {
      open.put(request, new ArrayList<>());
      arrived.add(new WeakReference<>(request));
    }
    var steps = open.get(request);
    if (steps == null) {
      wrong = step + " of a request that has not arrived, or has ended";
      return;
    }
    steps.add(step);
    other.saw(step, request);
    if (step == Step.FORWARDING) {
      whenForwarding.run();
      if (!mark.isEmpty()) {
        request.setHeader("X-Mark", mark);
      }
    }
    if (step == Step.RESPONDING && !mark.isEmpty()) {
      request.addResponseHeader("X-Mark", mark);
    }
    if (step == Step.ENDED) {
      open.remove(request);
      ended.add(new Seen(request, steps));
    }
  }

  /** Shows all steps to an observer of an extension, too. */
  public void showTo(RequestObserver observer) {
    other = observer;
  }

  /** Forgets the requests that have ended, so that none but the product can still refer to one. */
  Collection<WeakReference<RequestTimeline>> forget() {
    ended.clear();
    return arrived;
  }

  /** How many have arrived and not ended. */
  int open() {
    if (!wrong.isEmpty()) {
      throw new AssertionError(wrong);
    }
    return open.size();
  }
}
