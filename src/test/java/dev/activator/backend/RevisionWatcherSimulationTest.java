package dev.activator.backend;

import static dev.activator.backend.Fixtures.CLUSTER_IP;
import static dev.activator.backend.Fixtures.REVISION;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.backend.policy.ProbePolicy;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.WithoutLog;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Pods start, flap, hang and answer as a mesh does, for a while; then all is well. */
@WithoutLog
class RevisionWatcherSimulationTest {
  private static final List<Destination> PODS = IntStream.range(1, 7)
      .mapToObj(i -> new Destination("10.0.0." + i, 8012)).toList();
  private static final List<ProbeResult> ANSWERS = List.of(FakePods.OK, FakePods.OK,
      FakePods.REFUSED, FakePods.HANGS, FakePods.MESH, FakePods.status(500));

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakePods fake = new FakePods(loop);
  private HealthyDestinations latest = HealthyDestinations.pods(REVISION, DestinationSet.NONE);
  private PodsByReadiness listed = PodsByReadiness.NONE;
  /** When each listed pod was listed, or last called ready. */
  private final Map<Destination, Duration> since = new HashMap<>();
  private MeshMode mesh = MeshMode.AUTO;
  private boolean relisting;

  @Test
  void saysOnlyWhatIsTrueSaysItOnceAndFindsEveryPodInTheEnd() {
    Seeds.each(seed -> new RevisionWatcherSimulationTest()
        .saysOnlyWhatIsTrueSaysItOnceAndFindsEveryPodInTheEnd(seed));
  }

  private void saysOnlyWhatIsTrueSaysItOnceAndFindsEveryPodInTheEnd(long seed) {
    var random = new Random(seed);
    var traits = traits(random);
    mesh = traits.addressing().mesh();
    var watcher = Fixtures.watcher(traits, loop, fake, random, 500, this::publish);
    watcher.addressed(CLUSTER_IP);

    // given a time in which anything happens
    for (int i = 0; i < 80; i++) {
      somethingHappens(random, watcher);
      loop.advance(Duration.ofMillis(random.nextInt(random.nextBoolean() ? 20 : 1_500)));
      checkThatOnlyListedPodsServe();
    }

    // when it ends and every pod answers
    PODS.forEach(pod -> fake.answers(pod, FakePods.OK));
    fake.answers(CLUSTER_IP, FakePods.OK);
    watcher.addressed(CLUSTER_IP);
    loop.advance(Duration.ofSeconds(40));

    // then all of them serve, and nobody is asked any more
    assertThat(latest).isEqualTo(expected(traits));
    int asked = fake.asked().size();
    loop.advance(Duration.ofSeconds(40));
    assertThat(fake.asked()).hasSize(asked);

    // and when it is cancelled, then whatever happens, nothing is said
    watcher.cancelled();
    var last = latest;
    for (int i = 0; i < 10; i++) {
      somethingHappens(random, watcher);
      loop.advance(Duration.ofMillis(random.nextInt(1_500)));
    }
    assertThat(latest).isSameAs(last);
  }

  private void somethingHappens(Random random, RevisionWatcher watcher) {
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> relist(random, watcher);
      case 3 -> watcher.listed(listed);
      case 4 -> reportUnreachable(random.nextInt(4) == 0 ? CLUSTER_IP : one(random), watcher);
      case 5 -> fake.answers(CLUSTER_IP, ANSWERS.get(random.nextInt(ANSWERS.size())));
      case 6 -> watcher.addressed(random.nextInt(3) == 0 ? null : CLUSTER_IP);
      default -> fake.answers(one(random), ANSWERS.get(random.nextInt(ANSWERS.size())));
    }
  }

  private void reportUnreachable(Destination destination, RevisionWatcher watcher) {
    if (destination.equals(latest.clusterIp())) {
      since.replaceAll((_, _) -> loop.elapsed());
    }
    watcher.onUnreachable(destination);
  }

  private void relist(Random random, RevisionWatcher watcher) {
    var ready = new ArrayList<Destination>();
    var notReady = new ArrayList<Destination>();
    for (var pod : PODS) {
      switch (random.nextInt(3)) {
        case 0 -> ready.add(pod);
        case 1 -> notReady.add(pod);
        default -> {
          // not there
        }
      }
    }
    var before = listed;
    listed = random.nextInt(6) == 0
        ? PodsByReadiness.NONE
        : new PodsByReadiness(DestinationSet.of(ready), DestinationSet.of(notReady));
    since.keySet().removeIf(pod -> !listed.all().contains(pod));
    listed.all().all().forEach(pod -> since.putIfAbsent(pod, loop.elapsed()));
    listed.ready().minus(before.ready()).all().forEach(pod -> since.put(pod, loop.elapsed()));
    // A ClusterIP that has answered serves the next pods at once.
    relisting = true;
    watcher.listed(listed);
    relisting = false;
  }

  private static Destination one(Random random) {
    return PODS.get(random.nextInt(PODS.size()));
  }

  private static ProbePolicy traits(Random random) {
    var mesh = MeshMode.values()[random.nextInt(3)];
    return Fixtures.traits(new MeshAddressing(mesh, random.nextInt(4) == 0), random.nextInt(3) > 0);
  }

  private void publish(HealthyDestinations now) {
    assertThat(now).isNotEqualTo(latest);
    if (now.clusterIp() != null && latest.clusterIp() == null && mesh == MeshMode.AUTO
        && !relisting) {
      assertThat(since).as("pods are asked before the ClusterIP serves")
          .allSatisfy((pod, start) -> assertThat(fake.hasEndedSince(pod, start)).isTrue());
    }
    latest = now;
  }

  private void checkThatOnlyListedPodsServe() {
    var allowed = latest.clusterIp() == null ? listed.all() : listed.ready();
    assertThat(allowed.all()).containsAll(latest.pods().all());
  }

  private HealthyDestinations expected(ProbePolicy traits) {
    if (traits.addressing().mesh() != MeshMode.ENABLED) {
      return HealthyDestinations.pods(REVISION,
          traits.probesBeforeReady() ? listed.all() : listed.ready());
    }
    return traits.addressing().passthrough() || listed.ready().isEmpty()
        ? HealthyDestinations.pods(REVISION, DestinationSet.NONE)
        : new HealthyDestinations(REVISION, CLUSTER_IP, listed.ready());
  }
}
