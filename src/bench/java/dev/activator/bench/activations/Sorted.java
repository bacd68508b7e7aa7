package dev.activator.bench.activations;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.DoubleStream;

/** Measured values in order. */
final class Sorted {
  private final double[] values;

  Sorted(DoubleStream values) {
    this.values = values.sorted().toArray();
  }

  double at(double part) {
    return values.length == 0
        ? Double.NaN
        : values[Math.max(0, (int) Math.ceil(values.length * part) - 1)];
  }

  /** The values at these parts, as text. */
  String text(double... parts) {
    return String.join(", ", Arrays.stream(parts)
        .mapToObj(part -> String.format(Locale.ROOT, "%.1f", at(part))).toList());
  }
}
