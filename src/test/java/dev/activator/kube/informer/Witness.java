package dev.activator.kube.informer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Deleted;
import dev.activator.kube.informer.InformerNotification.Updated;
import java.util.HashMap;
import java.util.Map;

/**
 * A handler that checks whether what it is told can be true: the first of a key is an add, an update
 * starts from what it was told last, versions of one object rise, nothing comes twice, and only what
 * is there goes.
 */
final class Witness implements InformerHandler<String> {
  /** Whether it may be told of what did not change. */
  enum Repeats {
    EXPECTED,
    WRONG
  }

  private final Repeats repeats;
  private final Map<String, VersionedObject<String>> there = new HashMap<>();
  private final Map<String, Integer> newest = new HashMap<>();
  private int repeated;

  Witness(Repeats repeats) {
    this.repeats = repeats;
  }

  /** What there is, by what it was told. */
  Map<String, VersionedObject<String>> there() {
    return there;
  }

  int repeated() {
    return repeated;
  }

  @Override
  public void on(InformerNotification<String> notification) {
    switch (notification) {
      case Added<String>(var now) -> {
        assertThat(there.put(now.key(), now)).as("before %s", notification).isNull();
        newer(now);
      }
      case Updated<String>(var before, var now) -> {
        assertThat(there.put(now.key(), now)).as("before %s", notification).isEqualTo(before);
        changed(before, now);
      }
      case Deleted<String>(var known, var last, _) -> {
        var before = there.remove(last.key());
        assertThat(known).as("before %s", notification).isEqualTo(before);
        assertThat(before).as("before %s", notification).isNotNull();
        assertThat(last.uid()).isEqualTo(before == null ? null : before.uid());
        assertThat(version(last)).isGreaterThanOrEqualTo(newest.getOrDefault(last.uid(), 0));
      }
    }
  }

  private void changed(VersionedObject<String> before, VersionedObject<String> now) {
    if (before.equals(now)) {
      repeated++;
      assertThat(repeats).as("told again of %s", now).isEqualTo(Repeats.EXPECTED);
    } else {
      newer(now);
    }
  }

  private void newer(VersionedObject<String> now) {
    var before = newest.put(now.uid(), version(now));
    assertThat(version(now)).as("version of %s", now).isGreaterThan(before == null ? 0 : before);
  }

  private static int version(VersionedObject<String> sighting) {
    return Integer.parseInt(sighting.resourceVersion());
  }
}
