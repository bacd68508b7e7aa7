package dev.activator.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Revisions and their Endpoints come and go, in any order, some of it twice. */
class RevisionBackendsManagerSimulationTest {
  private static final List<RevisionId> IDS = IntStream.range(0, 3)
      .mapToObj(i -> new RevisionId("ns", "rev-" + i)).toList();

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakePods fake = new FakePods(loop);
  private final LiveRevisions live = new LiveRevisions(_ -> loop);
  private final RevisionBackendsManager backends = Fixtures.manager(live, loop, fake);
  private final ReportedObjects objects = new ReportedObjects(live, backends);
  private final Map<RevisionId, HealthyDestinations> latest = new TreeMap<>();

  /** What holds, as the manager was told. */
  private final TreeSet<RevisionId> existing = new TreeSet<>();
  private final Map<RevisionId, PodsByReadiness> listed = new HashMap<>();

  @Test
  void publishesThePodsOfTheRevisionsThatExist() {
    Seeds.each(seed -> new RevisionBackendsManagerSimulationTest()
        .publishesThePodsOfTheRevisionsThatExist(seed));
  }

  private void publishesThePodsOfTheRevisionsThatExist(long seed) {
    var random = new Random(seed);
    IDS.forEach(id -> latest.put(id, HealthyDestinations.pods(id, DestinationSet.NONE)));
    backends.healthy().subscribe("test", this::publish);

    // given facts in any order
    for (int i = 0; i < 60; i++) {
      var id = IDS.get(random.nextInt(IDS.size()));
      somethingHappens(random, id);
      loop.advance(Duration.ofMillis(2 + random.nextInt(50)));
      checkNothingElseServes(id);
    }

    // when all is quiet, then the listed pods of each revision that exists serve, and no others
    loop.advance(Duration.ofSeconds(5));
    for (var id : IDS) {
      assertThat(latest.get(id).pods()).isEqualTo(expected(id));
    }

    // and when all is deleted, then nothing is left of it
    IDS.forEach(objects::revisionGone);
    IDS.forEach(objects::podsGone);
    IDS.forEach(id -> objects.clusterIp(new PrivateClusterIp(id, null, null)));
    loop.advance(Duration.ofSeconds(5));
    assertThat(latest.values()).allMatch(now -> now.pods().isEmpty());
    assertThat(IDS).allMatch(id -> backends.view(id) == null);
  }

  private void somethingHappens(Random random, RevisionId id) {
    switch (random.nextInt(7)) {
      case 0, 1 -> {
        existing.add(id);
        objects.revision(Revision.of(id, random.nextInt(10)));
      }
      case 2 -> {
        existing.remove(id);
        objects.revisionGone(id);
      }
      case 3 -> {
        listed.remove(id);
        objects.podsGone(id);
      }
      case 4 -> objects.clusterIp(new PrivateClusterIp(id,
          random.nextBoolean() ? Fixtures.CLUSTER_IP : null, null));
      default -> {
        listed.put(id, some(random));
        objects.listed(new PrivateEndpoints(id, listed.get(id), PodsByReadiness.NONE));
      }
    }
  }

  private static PodsByReadiness some(Random random) {
    return new PodsByReadiness(pods(random), pods(random));
  }

  private static DestinationSet pods(Random random) {
    return DestinationSet.of(IntStream.range(1, 5).filter(i -> random.nextBoolean())
        .mapToObj(i -> new Destination("10.0.0." + i, 8012)).toList());
  }

  private void publish(HealthyDestinations now) {
    assertThat(now).isNotEqualTo(latest.get(now.revision()));
    latest.put(now.revision(), now);
  }

  private DestinationSet expected(RevisionId id) {
    return existing.contains(id)
        ? listed.getOrDefault(id, PodsByReadiness.NONE).all()
        : DestinationSet.NONE;
  }

  private void checkNothingElseServes(RevisionId id) {
    assertThat(expected(id).all()).containsAll(latest.get(id).pods().all());
  }
}
