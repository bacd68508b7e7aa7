package dev.activator.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.LiveRevisions;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.WithoutLog;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A small cluster: pods start after a while, flap, hang, answer as a mesh does, and come back with
 * another address; of what Kubernetes says some is lost and some is said twice; bugs end watchers now
 * and then; and few repeats are allowed. {@link FakePods} sees to it that no pod is asked twice at
 * once.
 */
@WithoutLog
class ManyRevisionsSimulationTest {
  private static final List<RevisionId> IDS = IntStream.range(0, 4)
      .mapToObj(i -> new RevisionId("ns", "rev-" + i)).toList();
  private static final List<ProbeResult> TROUBLE = List.of(FakePods.REFUSED, FakePods.HANGS,
      FakePods.MESH, FakePods.status(500));

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakePods fake = new FakePods(loop);
  private final LiveRevisions live = new LiveRevisions(_ -> loop);
  private final Map<RevisionId, HealthyDestinations> latest = new TreeMap<>();

  /** What Kubernetes lists, and what of it the manager has heard. */
  private final Map<RevisionId, PodsByReadiness> truth = new TreeMap<>();
  private final Map<RevisionId, PodsByReadiness> received = new HashMap<>();
  private boolean bugs;
  private int addresses;

  @Test
  void publishesOnlyWhatIsListedNothingTwiceAndEveryPodThatAnswersInTheEnd() {
    Seeds.each(seed -> new ManyRevisionsSimulationTest()
        .publishesOnlyWhatIsListedNothingTwiceAndEveryPodThatAnswersInTheEnd(seed));
  }

  private void publishesOnlyWhatIsListedNothingTwiceAndEveryPodThatAnswersInTheEnd(long seed) {
    var random = new Random(seed);
    bugs = seed % 4 == 0;
    if (bugs) {
      fake.allowTwiceAtOnce();
    }
    var backends = manager(random);
    IDS.forEach(id -> exists(backends, id, random));

    for (int i = 0; i < 60; i++) {
      somethingHappens(random, backends, IDS.get(random.nextInt(IDS.size())));
      loop.advance(Duration.ofMillis(random.nextInt(random.nextBoolean() ? 10 : 700)));
      IDS.forEach(this::checkThatWhatServesIsListed);
    }

    // when all is well, and the informers have listed again
    bugs = false;
    IDS.forEach(id -> {
      truth.get(id).all().all().forEach(pod -> fake.answers(pod, FakePods.OK));
      fake.answers(clusterIp(id), FakePods.OK);
      tell(backends, id);
    });
    loop.advance(Duration.ofSeconds(60));

    // then every pod serves, and nobody is asked any more
    IDS.forEach(id -> assertThat(latest.get(id))
        .isEqualTo(HealthyDestinations.pods(id, truth.get(id).all())));
    int asked = fake.asked().size();
    loop.advance(Duration.ofSeconds(60));
    assertThat(fake.asked()).hasSize(asked);
  }

  private RevisionBackendsManager manager(Random random) {
    var spread = new Random(random.nextLong());
    RandomGenerator failing = () -> {
      if (bugs && spread.nextInt(50) == 0) {
        throw new IllegalStateException("on purpose");
      }
      return spread.nextLong();
    };
    var backends = Quiescence.watch(Make.backends(live, loop, fake,
        Fixtures.settings(() -> MeshAddressing.DEFAULT, 50), failing));
    backends.healthy().subscribe("test", this::publish);
    return backends;
  }

  private void exists(RevisionBackendsManager backends, RevisionId id, Random random) {
    latest.put(id, HealthyDestinations.pods(id, DestinationSet.NONE));
    truth.put(id, PodsByReadiness.NONE);
    received.put(id, PodsByReadiness.NONE);
    backends.revision(live.update(Revision.of(id, 1)));
    if (random.nextBoolean()) {
      backends.clusterIp(new PrivateClusterIp(id, clusterIp(id), null));
    }
  }

  private void somethingHappens(Random random, RevisionBackendsManager backends, RevisionId id) {
    switch (random.nextInt(10)) {
      case 0, 1, 2 -> {
        change(random, id);
        if (random.nextInt(4) > 0) {
          tell(backends, id);
        }
      }
      case 3 -> tell(backends, id);
      case 4 -> backends.onUnreachable(id, one(random, truth.get(id)));
      case 5 -> fake.answers(clusterIp(id), some(random));
      default -> fake.answers(one(random, truth.get(id)), some(random));
    }
  }

  /** A pod starts, becomes ready, falls from it, or goes. */
  private void change(Random random, RevisionId id) {
    var now = truth.get(id);
    truth.put(id, switch (random.nextInt(5)) {
      case 0, 1 -> new PodsByReadiness(now.ready(), now.notReady().plus(started(random, id)));
      case 2 -> new PodsByReadiness(now.ready().plus(now.notReady()), DestinationSet.NONE);
      case 3 -> now.ready().isEmpty() ? now : fallen(now, one(random, now));
      default -> without(now, one(random, now));
    });
  }

  private Destination started(Random random, RevisionId id) {
    // Some addresses were another pod's before.
    int address = random.nextInt(4) == 0 ? random.nextInt(4) : addresses++;
    var pod = new Destination("10." + IDS.indexOf(id) + ".0." + (1 + address % 250), 8012);
    var start = loop.elapsed().plusMillis(random.nextInt(3_000));
    fake.listensFrom(pod, start);
    return pod;
  }

  private static Destination clusterIp(RevisionId id) {
    return new Destination("129.0.0." + IDS.indexOf(id), 80);
  }

  private static PodsByReadiness fallen(PodsByReadiness now, Destination pod) {
    return new PodsByReadiness(now.ready().minus(pod), now.notReady().plus(pod));
  }

  private static PodsByReadiness without(PodsByReadiness now, Destination pod) {
    return new PodsByReadiness(now.ready().minus(pod), now.notReady().minus(pod));
  }

  /** One that is listed, mostly. */
  private static Destination one(Random random, PodsByReadiness now) {
    var all = now.all().all();
    return all.isEmpty()
        ? new Destination("10.9.9.9", 8012)
        : all.get(random.nextInt(all.size()));
  }

  private static ProbeResult some(Random random) {
    return random.nextBoolean() ? FakePods.OK : TROUBLE.get(random.nextInt(TROUBLE.size()));
  }

  private void tell(RevisionBackendsManager backends, RevisionId id) {
    received.put(id, truth.get(id));
    backends.listed(new PrivateEndpoints(id, truth.get(id), PodsByReadiness.NONE));
  }

  private void publish(HealthyDestinations now) {
    assertThat(now).isNotEqualTo(latest.put(now.revision(), now));
  }

  private void checkThatWhatServesIsListed(RevisionId id) {
    var now = latest.get(id);
    var allowed = now.clusterIp() == null ? received.get(id).all() : received.get(id).ready();
    assertThat(allowed.all()).containsAll(now.pods().all());
  }
}
