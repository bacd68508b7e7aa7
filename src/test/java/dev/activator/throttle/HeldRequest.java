package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request that asks once and remembers what it was told. */
final class HeldRequest implements Waiter {
  private final Loop loop;
  private final List<Object> answers = new ArrayList<>();
  private @Nullable Place place;
  private @Nullable Permit permit;

  HeldRequest(Loop loop) {
    this.loop = loop;
  }

  /** Asks, and keeps the permit or the place. */
  HeldRequest told(Admission admission) {
    switch (admission) {
      case Permit now -> granted(now);
      case Place later -> place = later;
    }
    return this;
  }

  @Override
  public Loop loop() {
    return loop;
  }

  @Override
  public void granted(Permit granted) {
    permit = granted;
    answers.add(granted.destination());
  }

  @Override
  public void rejected(Rejection reason) {
    answers.add(reason);
  }

  /** Destinations and rejections, as they came; a well-behaved throttle gives one at most. */
  List<Object> answers() {
    return answers;
  }

  boolean waits() {
    return answers.isEmpty();
  }

  boolean runs() {
    return permit != null;
  }

  @Nullable Destination destination() {
    return permit == null ? null : permit.destination();
  }

  void giveUp() {
    place.giveUp();
  }

  void release() {
    permit.release();
    permit = null;
  }
}
