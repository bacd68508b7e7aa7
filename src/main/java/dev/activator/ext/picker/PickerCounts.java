package dev.activator.ext.picker;

import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how streams ended, and requests that ran on another pod than was chosen.
 *
 * <p><b>Threads.</b> Any.
 */
final class PickerCounts {
  /** How a stream ended. */
  enum End {
    /** The end of the response was seen. */
    RESPONSE,
    /** The gateway closed the stream after the head of the response. */
    HEAD,
    /** The gateway closed the stream before the response. */
    LEFT,
    /** The caller got another answer than a pod's. */
    ANSWERED,
    /** The request was cut off. */
    CUT,
    /** The gateway broke the protocol. */
    MALFORMED
  }

  private final Map<End, LongAdder> streams = new EnumMap<>(End.class);
  private final LongAdder moved = new LongAdder();

  PickerCounts() {
    for (var end : End.values()) {
      streams.put(end, new LongAdder());
    }
  }

  void ended(End end) {
    Objects.requireNonNull(streams.get(end)).increment();
  }

  void moved() {
    moved.increment();
  }

  void register(Meters meters) {
    streams.forEach((end, number) -> meters.number(MetricDefinition.PICKER_STREAMS,
        Labels.of("end", end.name().toLowerCase(Locale.ROOT)), number::sum));
    meters.number(MetricDefinition.PICKER_MOVED, Labels.EMPTY, moved::sum);
  }
}
