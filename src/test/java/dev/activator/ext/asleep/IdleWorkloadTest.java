package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.IdleState;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Refused;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A workload without other faults than those of each test. */
class IdleWorkloadTest {
  private final IdleCluster cluster = new IdleCluster(0);

  @BeforeEach
  void start() {
    cluster.faults = false;
  }

  private void seconds(int count) {
    cluster.loop.advance(Duration.ofSeconds(count));
  }

  /** Has a pod start by a request, and fall asleep. */
  private void sleep() {
    cluster.begin();
    cluster.activators.getFirst().request();
    seconds(30);
    assertThat(cluster.state).isNotNull();
    assertThat(cluster.state.phase()).isEqualTo(Phase.ASLEEP);
  }

  @Test
  void itStaysAwake_whileAnActivatorDoesNotAcknowledge() {
    cluster.old = cluster.activators.getLast();
    cluster.begin();
    cluster.activators.getFirst().request();

    cluster.loop.advance(Duration.ofSeconds(60));

    assertThat(cluster.sleeps).isZero();
    assertThat(cluster.events)
        .contains("StaysAwake Deployment web stays awake: requests may still be sent to it by b");
    cluster.activators.getFirst().request();
    cluster.loop.advance(Duration.ofSeconds(12));
    assertThat(cluster.waiting).isZero();
  }

  @Test
  void removesPodsThatWereAsleepForLongEnough_alsoIfTheApiRefusesAtFirst() {
    sleep();
    cluster.refusesScales = true;
    seconds(60);
    assertThat(cluster.replicas).isEqualTo(1);

    cluster.refusesScales = false;
    seconds(40);

    assertThat(cluster.replicas).isZero();
    assertThat(cluster.state).isNull();
  }

  @Test
  void storesThatPodsAreGoneThatCouldNotBeWoken_alsoIfTheApiRefusesAtFirst() {
    sleep();
    cluster.set(new IdleState(Phase.FALLING_ASLEEP, cluster.leader.now(), "sleep"));
    cluster.kill();
    cluster.pods.clear();
    cluster.addPod();
    while (cluster.replicas > 0) {
      cluster.loop.advance(Duration.ofMillis(10));
    }

    cluster.refusesStates = true;
    seconds(5);
    assertThat(cluster.pods).isEmpty();
    assertThat(cluster.state).isNotNull();
    cluster.refusesStates = false;
    seconds(35);

    assertThat(cluster.state).isNull();
  }

  @Test
  void reportsNoWake_whileItMayNotWrite_andWakesAfterwards() {
    sleep();
    cluster.wakes.clear();
    cluster.leader.isLate = true;
    var written = cluster.leader.idle.write(IdleCluster.WEB, IdleCluster.TARGET,
        new Found(0, 0, "1"), 1);
    seconds(1);
    assertThat(written.join()).isInstanceOf(Refused.class);
    assertThat(cluster.wakes).isEmpty();

    cluster.leader.isLate = false;
    cluster.activators.getFirst().request();
    seconds(12);

    assertThat(cluster.wakes).hasSize(1);
    assertThat(cluster.waiting).isZero();
  }

  @Test
  void sendsItsOwnRequestsToPodsThatItHasWoken_beforeOthersKnowThat() {
    cluster.wakesAtOnce = true;
    sleep();
    cluster.watchesStop = true;

    cluster.activators.forEach(IdleCluster.Activator::request);
    seconds(2);

    assertThat(cluster.state).isNull();
    assertThat(cluster.waiting).isEqualTo(1);
    cluster.watchesStop = false;
    cluster.set(null);
    seconds(1);
    assertThat(cluster.waiting).isZero();
  }

  @ParameterizedTest(name = "at once {0}")
  @ValueSource(booleans = {false, true})
  void keepsPodsAwakeThatItHasWoken_thoughTheStateCannotBeStored(boolean atOnce) {
    cluster.wakesAtOnce = atOnce;
    sleep();
    // Longer than the workload has to be idle until it may sleep.
    cluster.maxRequestMillis = 100_000;
    cluster.onWoken = () -> cluster.refusesStates = true;
    cluster.activators.getFirst().request();
    seconds(120);
    assertThat(cluster.state).isNotNull();
    assertThat(cluster.sleeps).isEqualTo(1);
    assertThat(cluster.replicas).isEqualTo(1);

    cluster.onWoken = () -> {
    };
    cluster.refusesStates = false;
    cluster.activators.forEach(IdleCluster.Activator::request);
    seconds(200);

    assertThat(cluster.waiting).isZero();
  }

  @Test
  void putsPodsToSleepLater_thoughItCouldNotBeStoredThatTheyStayAwake() {
    cluster.begin();
    cluster.activators.getFirst().request();
    cluster.watchesStop = true;
    while (cluster.state == null) {
      seconds(1);
    }
    cluster.refusesStates = true;
    // The activator sends it to a pod, since it does not know the state yet.
    cluster.activators.getFirst().request();
    seconds(2);
    assertThat(cluster.waiting).isZero();
    assertThat(cluster.state).extracting(IdleState::phase).isEqualTo(Phase.FALLING_ASLEEP);

    cluster.refusesStates = false;
    cluster.watchesStop = false;
    seconds(60);

    assertThat(cluster.state).extracting(IdleState::phase).isEqualTo(Phase.ASLEEP);
  }

  @Test
  void aLaterLeaderLetsRequestsRun_ifTheLastOneDiedOnceItHadWokenThePods() {
    sleep();
    cluster.onWoken = () -> {
      cluster.onWoken = () -> {
      };
      cluster.kill();
    };

    cluster.activators.forEach(IdleCluster.Activator::request);
    seconds(25);

    assertThat(cluster.leaders).isEqualTo(2);
    assertThat(cluster.waiting).isZero();
  }

  /** Another leads, and the Service lists no pod, once pods have fallen asleep which is not stored. */
  private void loseThePods() {
    cluster.onSleep = () -> {
      cluster.onSleep = () -> {
      };
      cluster.isUnlisted = true;
      cluster.kill();
    };
    cluster.begin();
    cluster.activators.getFirst().request();
    while (cluster.leaders < 2) {
      seconds(1);
    }
    seconds(2);
    assertThat(cluster.sleeps).isEqualTo(1);
    assertThat(cluster.state).extracting(IdleState::phase).isEqualTo(Phase.FALLING_ASLEEP);
  }

  private void listThePods() {
    cluster.isUnlisted = false;
    cluster.changed();
  }

  @Test
  void aLaterLeaderBringsPodsToRunThatTheServiceListsAgain_andPutsThemToSleepAgain() {
    loseThePods();
    listThePods();

    seconds(60);

    assertThat(cluster.sleeps).isEqualTo(2);
    assertThat(cluster.state).extracting(IdleState::phase).isEqualTo(Phase.ASLEEP);
  }

  @Test
  void aLaterLeaderDoesNotTakePodsForAwakeThatTheServiceListsNotYet() {
    loseThePods();
    listThePods();
    cluster.activators.forEach(IdleCluster.Activator::request);
    seconds(20);

    assertThat(cluster.waiting).isZero();
  }

  /** A workload that may be put to sleep, and whose pods have gone by then. */
  private IdleClient fallingAsleepWithoutAPod() {
    cluster.begin();
    cluster.activators.getFirst().request();
    seconds(5);
    var idle = cluster.leader.idle;
    var mayStop = idle.prepareScaleToZero(IdleCluster.WEB, IdleCluster.TARGET, Duration.ZERO);
    seconds(2);
    assertThat(mayStop).isCompletedWithValue(true);
    cluster.pods.clear();
    return idle;
  }

  @Test
  void goesToZero_ifItHasNoPodThatCouldSleep() {
    var idle = fallingAsleepWithoutAPod();

    var stopped = idle.write(IdleCluster.WEB, IdleCluster.TARGET, new Found(1, 1, "1"), 0);
    seconds(1);

    assertThat(stopped).isCompletedWithValue(new Found(0, 0, "1"));
    assertThat(idle.change(IdleCluster.WEB, IdleCluster.TARGET, 1, 0).reason())
        .isEqualTo("ScaledToZero");
    assertThat(cluster.replicas).isZero();
    assertThat(cluster.sleeps).isZero();
    assertThat(cluster.state).isNull();
  }

  @Test
  void writesNoZero_onceItMayNotWrite() {
    var idle = fallingAsleepWithoutAPod();
    cluster.leader.isLate = true;

    var refused = idle.write(IdleCluster.WEB, IdleCluster.TARGET, new Found(1, 1, "1"), 0);
    seconds(1);

    assertThat(refused.join()).isInstanceOf(Refused.class);
    assertThat(cluster.replicas).isEqualTo(1);
    assertThat(cluster.state).extracting(IdleState::phase).isEqualTo(Phase.FALLING_ASLEEP);
  }

  @Test
  void leavesNoPodAsleep_ifItsScaledServiceIsDeletedMeanwhile() {
    cluster.sleepTakes = Duration.ofSeconds(1);
    cluster.onSleep = () -> {
      cluster.isDeleted = true;
      cluster.leader.revisions.remove(IdleCluster.WEB);
    };
    cluster.begin();
    cluster.activators.getFirst().request();

    seconds(30);

    assertThat(cluster.isDeleted).isTrue();
    assertThat(cluster.sleeps).isEqualTo(1);
    assertThat(cluster.pods).isNotEmpty().noneMatch(pod -> pod.asleep);
  }

  @Test
  void takesNoStepAnyMore_onceItsScaledServiceIsDeleted_thoughItsPodsDidNotFallAsleepAgain() {
    sleep();
    cluster.refusesSleep = true;
    cluster.kill();
    seconds(20);
    var leader = cluster.leader;
    cluster.delete();
    seconds(40);
    int before = leader.checks;

    seconds(300);

    assertThat(before).isPositive();
    assertThat(leader.checks).isEqualTo(before);
  }

  @Test
  void removesNoPods_ifItsScaledServiceIsDeletedWhenTheyAreAsleepForLongEnough() {
    sleep();
    var due = cluster.state.since().plus(IdleCluster.TARGET.zeroAfter());
    cluster.onRead = () -> {
      if (!cluster.leader.now().isBefore(due)) {
        cluster.delete();
      }
    };

    seconds(120);

    assertThat(cluster.isDeleted).isTrue();
    assertThat(cluster.replicas).isEqualTo(1);
    assertThat(cluster.pods).isNotEmpty().noneMatch(pod -> pod.asleep);
  }

  @ParameterizedTest(name = "its Lease is late {0}")
  @ValueSource(booleans = {false, true})
  void removesPodsThatHaveToStop_ifTheirRequestsGoOnForTooLong_whileItMayWrite(boolean isLate) {
    cluster.maxRequestMillis = 1_000_000;
    cluster.begin();
    cluster.activators.getFirst().request();
    seconds(5);
    var idle = cluster.leader.idle;
    var mayStop = idle.prepareScaleToZero(IdleCluster.WEB, IdleCluster.TARGET,
        Duration.ofSeconds(60));
    seconds(59);
    assertThat(mayStop).isNotDone();
    seconds(2);
    assertThat(mayStop).isCompletedWithValue(true);
    cluster.leader.isLate = isLate;

    var stopped = idle.write(IdleCluster.WEB, IdleCluster.TARGET, new Found(1, 1, "1"), 0);
    seconds(1);

    assertThat(cluster.sleeps).isZero();
    assertThat(cluster.state).isNull();
    if (isLate) {
      assertThat(stopped.join()).isInstanceOf(Refused.class);
      assertThat(cluster.replicas).isEqualTo(1);
    } else {
      assertThat(stopped).isCompletedWithValue(new Found(0, 0, "1"));
      assertThat(idle.change(IdleCluster.WEB, IdleCluster.TARGET, 1, 0).reason())
          .isEqualTo("ScaledToZero");
    }
    seconds(1_000);
  }

  @ParameterizedTest(name = "replaced {0}")
  @ValueSource(booleans = {false, true})
  void putsAPodToSleep_thatStartedWhileTheWorkloadWasAsleep(boolean isReplaced) {
    sleep();

    cluster.crash(isReplaced);
    seconds(9);

    assertThat(cluster.pods).singleElement().matches(pod -> pod.ready && pod.asleep);
    assertThat(cluster.events).filteredOn(event -> event.startsWith("SleepsAgain"))
        .singleElement().asString().contains("10.0.0." + cluster.podsMade + ":80");
    seconds(20);
    assertThat(cluster.sleeps).isEqualTo(2);
    cluster.activators.getFirst().request();
    seconds(1);
    assertThat(cluster.waiting).isZero();
  }

  @Test
  void runs_ifAPodThatStartedMeanwhileDoesNotFallAsleep_andSleepsLater() {
    sleep();
    cluster.refusesSleep = true;

    cluster.crash(true);
    seconds(9);

    assertThat(cluster.state).isNull();
    assertThat(cluster.events).contains(
        "StaysAwake Deployment web does not fall asleep again: the pod answered 500");
    cluster.refusesSleep = false;
    seconds(40);
    assertThat(cluster.pods).singleElement().matches(pod -> pod.asleep);
  }

  @Test
  void putsAPodToSleepThatStartedMeanwhile_alsoAfterItsLeaseWasLate() {
    sleep();
    cluster.leader.isLate = true;
    seconds(6);
    cluster.leader.isLate = false;

    cluster.crash(true);
    seconds(9);

    assertThat(cluster.pods).singleElement().matches(pod -> pod.ready && pod.asleep);
  }

  @Test
  void wakesPodsThatAnotherLeaderHasPutToSleep_whichAreNotReady() {
    sleep();
    cluster.pods.clear();
    var pod = cluster.addPod();
    pod.asleep = true;
    cluster.set(new IdleState(Phase.FALLING_ASLEEP, cluster.leader.now(), "sleep"));

    cluster.leader.idle.read(IdleCluster.WEB, IdleCluster.TARGET);
    seconds(1);

    assertThat(cluster.state).isNull();
    assertThat(pod.asleep).isFalse();
  }

  @Test
  void wakesNoPodThatIsStillStarting_alsoIfAnotherIsPutToSleepMeanwhile() {
    sleep();
    var starting = cluster.addPod();
    cluster.crash(false);
    seconds(9);
    assertThat(cluster.events).filteredOn(event -> event.startsWith("SleepsAgain")).hasSize(1);

    cluster.activators.getFirst().request();
    seconds(2);

    assertThat(cluster.waiting).isZero();
    assertThat(cluster.pods).contains(starting);
    assertThat(cluster.events).noneMatch(event -> event.startsWith("WakeFailed"));
  }

  @Test
  void keepsPodsAsleep_thoughOneWasLostWithTheNodeOfTheLeader() {
    sleep();
    var other = cluster.addPod();
    other.ready = true;
    cluster.changed();
    seconds(9);
    assertThat(cluster.pods).hasSize(2).allMatch(pod -> pod.asleep);

    cluster.kill();
    other.isLost = true;
    seconds(20);

    assertThat(cluster.leaders).isEqualTo(2);
    assertThat(cluster.events).noneMatch(event -> event.startsWith("WakeFailed"));
    assertThat(cluster.replicas).isEqualTo(1);
    assertThat(cluster.state.phase()).isEqualTo(Phase.ASLEEP);
  }

  @Test
  void wakesNoPodThatIsStillStarting() {
    sleep();
    cluster.crash(true);

    cluster.activators.getFirst().request();
    seconds(4);

    assertThat(cluster.waiting).isZero();
    assertThat(cluster.podsMade).isEqualTo(2);
    assertThat(cluster.events).noneMatch(event -> event.startsWith("WakeFailed"));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 10, 20})
  void startsAtOnce_ifAnotherClientHasScaledToZeroWhatWasAsleep(int since) {
    sleep();
    seconds(since);
    cluster.scale(0);
    seconds(4);
    assertThat(cluster.pods).isEmpty();
    cluster.events.clear();

    cluster.activators.getFirst().request();
    seconds(5);

    assertThat(cluster.waiting).isZero();
    assertThat(cluster.state).isNull();
    assertThat(cluster.events).singleElement().asString()
        .startsWith("ScaledUp Deployment web goes from 0 to 1");
  }

  @Test
  void saysThatPodsAreWoken_andNotThatTheyStart() {
    sleep();

    cluster.activators.getLast().request();
    seconds(5);

    assertThat(cluster.events).contains(
        "FellAsleep Deployment web falls asleep with 1 replica: 0: 0 in flight, stable window;"
            + " only scaled between 0 and 1",
        "Woken Deployment web wakes with 1 replica: 1: 1 in flight, stable window; only scaled"
            + " between 0 and 1");
    assertThat(cluster.wakes).containsExactly("scale", "sleep");
  }
}
