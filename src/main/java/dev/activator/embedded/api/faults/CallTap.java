package dev.activator.embedded.api.faults;

import dev.activator.embedded.api.cache.Outlet;
import dev.activator.embedded.api.cache.Watch;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/** What is done to the watch of one call. */
final class CallTap implements WatchTap {
  private final Faults faults;
  private final OpenCall call;
  private final List<Fault> hits;
  private volatile @Nullable FaultyOutlet outlet;

  CallTap(Faults faults, OpenCall call, List<Fault> hits) {
    this.faults = faults;
    this.call = call;
    this.hits = hits;
  }

  @Override
  public Outlet over(Outlet inner) {
    var tapped = new FaultyOutlet(inner, faults, call.remedies());
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
          : Later.of(faults, pause).thenMany(Flux.just(event)), 1);
    };
  }
}
