package dev.activator.simulation;

import dev.activator.testing.VirtualLoop;
import java.util.ArrayDeque;
import java.util.Deque;

/** What happened, in order: printed when a seed fails. */
final class Story {
  private static final int KEPT = 400;

  private final VirtualLoop clock;
  private final Deque<String> lines = new ArrayDeque<>();

  Story(VirtualLoop clock) {
    this.clock = clock;
  }

  void tell(String format, Object... arguments) {
    if (lines.size() == KEPT) {
      lines.removeFirst();
    }
    lines
        .add("%10.4f s  ".formatted(clock.elapsed().toNanos() / 1e9) + format.formatted(arguments));
  }

  /** The last lines. */
  String text() {
    return String.join("\n", lines);
  }
}
