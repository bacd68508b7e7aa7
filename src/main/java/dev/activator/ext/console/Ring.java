package dev.activator.ext.console;

import java.util.Arrays;

/** Numbers in a ring of time slots, such as seconds. Not thread-safe. */
final class Ring {
  private final int[] values;
  private long last = Long.MIN_VALUE / 2;

  Ring(int slots) {
    this.values = new int[slots];
  }

  /** The place of a slot. Clears those that were skipped since the last one. */
  private int at(long slot) {
    for (long each = Math.max(last + 1, slot - values.length + 1); each <= slot; each++) {
      values[Math.floorMod(each, values.length)] = 0;
    }
    last = Math.max(last, slot);
    return Math.floorMod(slot, values.length);
  }

  int get(long slot) {
    return values[at(slot)];
  }

  void set(long slot, int value) {
    values[at(slot)] = value;
  }

  void add(long slot, int more) {
    values[at(slot)] += more;
  }

  /** The values up to this slot, the oldest first. */
  int[] until(long slot, int count) {
    at(slot);
    var line = new int[count];
    Arrays.setAll(line, i -> values[Math.floorMod(slot - count + 1 + i, values.length)]);
    return line;
  }
}
