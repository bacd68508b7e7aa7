package dev.activator.backend;

import static dev.activator.backend.Fixtures.TRAITS;
import static dev.activator.backend.Fixtures.pods;

import dev.activator.revision.HealthyDestinations;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One revision that is watched, and its pods, in virtual time. */
abstract class WatcherScene {
  static final ProbeResult MESH = FakePods.MESH;

  record Update(Duration at, HealthyDestinations destinations) {}

  final VirtualLoop loop = VirtualLoop.nearOverflow();
  final FakePods fake = new FakePods(loop);
  final List<Update> updates = new ArrayList<>();
  final RevisionWatcher watcher = Fixtures.watcher(TRAITS, loop, fake, this::publish);

  void publish(HealthyDestinations destinations) {
    updates.add(new Update(loop.elapsed(), destinations));
  }

  List<HealthyDestinations> published() {
    return updates.stream().map(Update::destinations).toList();
  }
}
