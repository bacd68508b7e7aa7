package dev.activator.embedded.api.faults;

import dev.activator.embedded.api.cache.Outlet;
import dev.activator.embedded.api.cache.Watch;
import dev.activator.embedded.api.faults.plan.Fault;
import dev.activator.embedded.api.faults.plan.Pace;
import dev.activator.embedded.api.faults.watch.EncodedEvents;
import dev.activator.embedded.api.faults.watch.FaultyOutlet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/** What is done to the watch of one call. */
final class CallTap implements WatchTap {
  private final Pace pace;
  private final OpenCall call;
  private final List<Fault> hits;
  private volatile @Nullable FaultyOutlet outlet;

  CallTap(Pace pace, OpenCall call, List<Fault> hits) {
    this.pace = pace;
    this.call = call;
    this.hits = hits;
  }

  @Override
  public Outlet over(Outlet inner) {
    var tapped = new FaultyOutlet(inner, pace, call.remedies());
    for (var hit : hits) {
      if (hit instanceof Fault.OnWatch onWatch) {
        tapped.arm(onWatch);
      }
    }
    outlet = tapped;
    call.watches(tapped);
    return tapped;
  }

  @Override
  public void opened(Watch watch) {
    var tapped = outlet;
    if (tapped != null) {
      tapped.opened(watch);
    }
  }

  @Override
  public Flux<byte[]> over(Flux<byte[]> events) {
    var changed = events;
    for (var hit : hits) {
      if (hit instanceof Fault.OnEvents onEvents) {
        changed = over(changed, onEvents);
      }
    }
    return changed;
  }

  private Flux<byte[]> over(Flux<byte[]> events, Fault.OnEvents fault) {
    return switch (fault) {
      case Fault.RawUtf8 _ -> events.map(EncodedEvents::unescaped);
      case Fault.Malformed(int number, var shape) ->
        events.map(EncodedEvents.malformed(number, shape));
      case Fault.LateEvents(var pause) -> events.concatMap(event -> event.length == 0
          ? Flux.just(event)
          : Later.of(pace, pause).thenMany(Flux.just(event)), 1);
    };
  }
}
