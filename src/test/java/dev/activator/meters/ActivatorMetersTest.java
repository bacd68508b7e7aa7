package dev.activator.meters;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.LeadershipStatus;
import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.revision.ScalingView;
import dev.activator.revision.ScalingView.ActiveCondition;
import dev.activator.kube.informer.Informer.InformerStatus;
import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import dev.activator.kube.reflector.ReflectorStatus;
import dev.activator.loop.LoopDelay;
import dev.activator.observability.Meters;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.Scrape;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ActivatorMetersTest {
  private final Meters meters = new Meters();
  private final ActivatorMeters stages = new ActivatorMeters(meters);
  private final VirtualLoop clock = new VirtualLoop();

  private static ThrottleView queue(int queued, Duration oldest) {
    return new ThrottleView(new RevisionId("ns", "rev" + queued), 1, 1, 0, queued, oldest,
        queued > 4, List.of());
  }

  private static ReflectorStatus watch(String resource, boolean watching, long lists,
      long eventNanos) {
    return new ReflectorStatus(resource,
        new ReflectorStatus.Health(true, watching, false, null, null),
        new ReflectorStatus.Counts(lists, 0, 5, 2, 1, 0), 0, eventNanos, "7");
  }

  @Test
  void addsUpTheQueuesAndKnowsWhoWaitsLongest() {
    var queues = new ArrayList<ThrottleView>();
    stages.queues(() -> queues);
    assertThat(Scrape.of(meters, "activator_queue")).containsExactly("activator_queue_depth 0.0",
        "activator_queue_newest_first 0.0", "activator_queue_oldest_age_seconds 0.0");

    queues.add(queue(2, ofMillis(1_500)));
    queues.add(queue(5, ofMillis(400)));

    assertThat(Scrape.of(meters, "activator_queue")).containsExactly("activator_queue_depth 7.0",
        "activator_queue_newest_first 1.0", "activator_queue_oldest_age_seconds 1.5");
  }

  @Test
  void saysHowManyConnectionsAreIdle() {
    stages.connections(() -> 5, () -> 2);

    assertThat(Scrape.of(meters, "http_client_open_connections")).containsExactly(
        "http_client_open_connections{http_connection_state=\"active\"} 3.0",
        "http_client_open_connections{http_connection_state=\"idle\"} 2.0");
  }

  @Test
  void knowsTheMemoryThatIsHeldAndHowMuchMayBe() {
    stages.held(() -> 4_096, 65_536);

    assertThat(Scrape.of(meters, "activator_held")).containsExactly(
        "activator_held_limit_bytes 65536.0", "activator_held_memory_bytes 4096.0");
  }

  @Test
  @DisplayName("several watches of a kind: counts add up, the lag is the longest, all must be open")
  void takesSeveralWatchesOfAKindTogether() {
    clock.advance(ofSeconds(10));
    stages.reflectors(() -> List.of(watch("pods", true, 3, ofSeconds(9).toNanos()),
        watch("pods", false, 4, ofSeconds(4).toNanos()),
        watch("endpoints", true, 1, ofSeconds(8).toNanos())), clock);

    assertThat(Scrape.of(meters, "activator_informer")).containsExactlyInAnyOrder(
        "activator_informer_age_seconds{resource=\"endpoints\"} 2.0",
        "activator_informer_age_seconds{resource=\"pods\"} 6.0",
        "activator_informer_watching{resource=\"endpoints\"} 1.0",
        "activator_informer_watching{resource=\"pods\"} 0.0",
        "activator_informer_lists_total{resource=\"endpoints\"} 1.0",
        "activator_informer_lists_total{resource=\"pods\"} 7.0",
        "activator_informer_watch_ends_total{resource=\"endpoints\"} 5.0",
        "activator_informer_watch_ends_total{resource=\"pods\"} 10.0",
        "activator_informer_failures_total{resource=\"endpoints\"} 2.0",
        "activator_informer_failures_total{resource=\"pods\"} 4.0",
        "activator_informer_drift_total{resource=\"endpoints\"} 1.0",
        "activator_informer_drift_total{resource=\"pods\"} 2.0");
  }

  @Test
  void saysNothingOfAWatchThatHasNotListedYet() {
    stages.reflectors(() -> List.of(new ReflectorStatus("pods",
        new ReflectorStatus.Health(false, false, false, null, null),
        new ReflectorStatus.Counts(0, 0, 0, 1, 0, 0), 0, 0, "")), clock);

    assertThat(Scrape.of(meters, "activator_informer")).isEmpty();
  }

  @Test
  void countsFromTheListWhereNothingWasReceivedSince() {
    clock.advance(ofSeconds(10));
    stages.reflectors(() -> List.of(new ReflectorStatus("pods",
        new ReflectorStatus.Health(true, true, false, null, null),
        new ReflectorStatus.Counts(1, 0, 0, 0, 0, 0), ofSeconds(7).toNanos(), 0, "1")), clock);

    assertThat(Scrape.of(meters, "activator_informer_age"))
        .containsExactly("activator_informer_age_seconds{resource=\"pods\"} 3.0");
  }

  @Test
  void addsUpWhatInformersOfAKindHaveNotStored() {
    stages.informers(() -> List.of(new InformerStatus("pods", 9, 2, true, 0, 4, List.of()),
        new InformerStatus("pods", 9, 3, true, 0, 1, List.of())));

    assertThat(Scrape.of(meters, "activator_informer"))
        .containsExactlyInAnyOrder("activator_informer_queued{resource=\"pods\"} 5.0",
            "activator_informer_missed_deletions_total{resource=\"pods\"} 5.0",
            "activator_informer_handler_pending{resource=\"pods\"} 0.0",
            "activator_informer_handler_oldest_age_seconds{resource=\"pods\"} 0.0");
  }

  @Test
  void knowsHowManyChangesAreNotHandledYetAndForHowLong() {
    stages.informers(() -> List.of(
        new InformerStatus("pods", 9, 0, true, 0, 0,
            List.of(handler(2, ofSeconds(3)), handler(1, ofSeconds(5)))),
        new InformerStatus("pods", 9, 0, true, 0, 0, List.of(handler(4, ofSeconds(4))))));

    assertThat(Scrape.of(meters, "activator_informer_handler")).containsExactlyInAnyOrder(
        "activator_informer_handler_pending{resource=\"pods\"} 7.0",
        "activator_informer_handler_oldest_age_seconds{resource=\"pods\"} 5.0");
  }

  private static ListenerView handler(int pending, Duration oldest) {
    return new ListenerView("pods", pending, oldest, true);
  }

  @Test
  void distinguishesLoops() {
    var late = new VirtualLoop();
    var delays = List.of(new LoopDelay(clock, clock, ofSeconds(1)),
        new LoopDelay(late, clock, ofSeconds(1)));
    delays.forEach(LoopDelay::start);
    stages.loops(delays);
    stages.saturation(new ProcessSaturation(() -> 0.25, () -> 0, delays));
    clock.run();
    clock.advance(ofMillis(10));

    // the second has not come to its task for 10 ms, of the 50 that are too many
    assertThat(Scrape.of(meters, "activator_loop")).containsExactly(
        "activator_loop_delay_seconds{loop=\"0\"} 0.0",
        "activator_loop_delay_seconds{loop=\"1\"} 0.01");
    assertThat(Scrape.of(meters, "activator_saturation"))
        .containsExactly("activator_saturation 0.25");
  }

  @Test
  void knowsWhoLeadsAndWhatItHasWritten() {
    var now = new AtomicReference<>(
        new LeadershipStatus("activator-1", true, 3, ofSeconds(2), 1, "",
            Map.of("written", 5L, "conflict", 1L)));
    stages.leadership(now::get);

    assertThat(Scrape.of(meters, "activator_leader")).containsExactlyInAnyOrder(
        "activator_leader 1.0", "activator_leader_transitions_total 3.0",
        "activator_leader_lease_age_seconds 2.0", "activator_leader_lease_failures_total 1.0");
    assertThat(Scrape.of(meters, "activator_scale")).containsExactlyInAnyOrder(
        "activator_scale_writes_total{result=\"conflict\"} 1.0",
        "activator_scale_writes_total{result=\"written\"} 5.0");

    now.set(new LeadershipStatus("activator-2", false, 4, ofSeconds(9), 1, "", Map.of()));
    assertThat(Scrape.of(meters, "activator_leader"))
        .contains("activator_leader 0.0", "activator_leader_transitions_total 4.0");
  }

  @Test
  void knowsWhatIsScaledAndWhatIsHeld() {
    var held = new ScalingView(new RevisionId("shop", "web"),
        new ScaleTargetRef("apps/v1", "Deployment", "web"), OptionalInt.of(3), OptionalInt.of(5),
        OptionalInt.of(4), 2, ScaleState.RUNNING, ActiveCondition.unknown(0),
        "3 = ceil(52 in flight ÷ 20)", null,
        "held",
        null);
    var fresh = new ScalingView(new RevisionId("shop", "new"),
        new ScaleTargetRef("apps/v1", "Deployment", "new"), OptionalInt.empty(),
        OptionalInt.empty(), OptionalInt.empty(), 0, null, ActiveCondition.unknown(0), "", null, "",
        null);
    stages.scaled(() -> List.of(held, fresh));

    String web = "{k8s_namespace_name=\"shop\",kn_revision_name=\"web\"} ";
    assertThat(Scrape.of(meters, "kn_revision_pods")).containsExactlyInAnyOrder(
        "kn_revision_pods_desired" + web + "3.0", "kn_revision_pods_requested" + web + "5.0",
        "kn_revision_pods_count" + web + "4.0", "kn_revision_pods_not_ready_count" + web + "2.0");
    assertThat(Scrape.of(meters, "activator_scale_held"))
        .containsExactly("activator_scale_held 1.0");
  }
}
