package dev.activator.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.lending.policy.PodOwners;
import dev.activator.lending.PeerMessage.Beat;
import dev.activator.lending.PeerMessage.Grant;
import dev.activator.lending.PeerMessage.View;
import dev.activator.lending.PeerMessage.Want;
import dev.activator.lending.PeerMessage.Yield;
import dev.activator.lending.RevisionLending.Routed;
import dev.activator.lending.policy.PodOwners;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Protocol;
import dev.activator.revision.ReadinessProbe;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.RevisionOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What changes while permits are lent: peers, links, limits, and revisions. */
class LendingTransitionsTest {
  private static final Duration SERVICE = Duration.ofMillis(10);

  private final VirtualLoop world = new VirtualLoop();
  private final Random random = new Random(7);
  private final List<SimulatedActivator> all = new ArrayList<>();
  private final List<SimulatedLink> links = new ArrayList<>();
  private Revision revision = revision(1, true);
  private final List<PeerMessage> sent = new ArrayList<>();
  /** Their messages take 20 s. */
  private final Set<PeerId> late = new HashSet<>();
  private int started;
  private Faults faults = Faults.NONE;

  private static Revision revision(int limit, boolean exact) {
    return revision(limit, exact, Duration.ofMinutes(5), Map.of());
  }

  private static Revision revision(int limit, boolean exact, Duration timeout,
      Map<String, String> annotations) {
    return new Revision(SimulatedActivator.ID, "", Protocol.HTTP1, limit,
        new RequestTimeouts(timeout, Duration.ZERO, Duration.ZERO), true,
        exact ? ReadinessProbe.CONNECT : null, Map.of(), annotations, null);
  }

  private void changed(Revision now) {
    all.forEach(it -> it.throttler().revision(now));
    pass(1_000);
  }

  @AfterEach
  void allEnd() {
    all.forEach(it -> it.hold(false));
    pass(5_000);
    assertThat(all).allSatisfy(it -> assertThat(it.queued()).isZero());
    all.forEach(it -> it.throttler().revisionGone(SimulatedActivator.ID));
    pass(1_000);
  }

  private SimulatedActivator start() {
    return start("10.1.0." + (all.size() + 1));
  }

  private SimulatedActivator start(String address) {
    var id = new PeerId(address, "p" + started++);
    var loop = new SkewedLoop(world, 1, 1_000_000, 10_000);
    var self = new SimulatedActivator(id, loop, revision, random, SERVICE, (to, message) -> {
      sent.add(message);
      Runnable send = () -> links.stream()
          .filter(link -> link.isOf(at(id)) && link.farSide(at(id)).id().equals(to))
          .forEach(link -> link.send(at(id), message));
      if (late.contains(id)) {
        world.schedule(Duration.ofSeconds(20), send);
      } else {
        send.run();
      }
    }, _ -> {
    });
    all.forEach(
        other -> links.add(new SimulatedLink(world, random, self, other, faults)));
    all.add(self);
    self.hold(true);
    return self;
  }

  private SimulatedActivator at(PeerId id) {
    return all.stream().filter(it -> it.id().equals(id)).findFirst().orElseThrow();
  }

  private Set<String> addresses() {
    return all.stream().map(it -> it.id().address()).collect(Collectors.toSet());
  }

  private void known() {
    all.forEach(it -> {
      it.activators(addresses());
      it.members(addresses().stream().sorted().toList());
    });
    pass(1);
  }

  private void connected() {
    links.forEach(SimulatedLink::connect);
    pass(1_000);
  }

  private void pass(int millis) {
    world.advance(Duration.ofMillis(millis));
  }

  private static List<Destination> pods(int count) {
    return IntStream.range(0, count).mapToObj(i -> new Destination("10.2.0." + i, 8012)).toList();
  }

  private void pods(List<Destination> pods) {
    all.forEach(it -> it.pods(pods));
    pass(1_000);
  }

  private int running(Destination pod) {
    return all.stream().mapToInt(it -> it.running(pod)).sum();
  }

  private boolean owns(SimulatedActivator activator, Destination pod) {
    return activator.view().pods().stream()
        .anyMatch(share -> share.pod().equals(pod) && share.owned());
  }

  private @Nullable String ownerByHash(Destination pod) {
    return new PodOwners(addresses().stream().sorted().toList(), true, List.of()).owner(pod);
  }

  private void requests(SimulatedActivator at, int count) {
    IntStream.range(0, count).forEach(_ -> at.request());
    pass(20);
  }

  @Test
  void countsWhatIsLent_andWhatThatSaves() {
    var one = start();
    var other = start();
    known();
    connected();
    pods(pods(1));
    var owner = owns(one, pods(1).getFirst()) ? one : other;
    var borrower = owner == one ? other : one;

    requests(borrower, 2);
    assertThat(borrower.lending().borrowed()).isEqualTo(1);
    assertThat(owner.lending().lent()).isEqualTo(1);
    assertThat(borrower.lending().counts().permitsBorrowed()).isEqualTo(1);
    assertThat(owner.lending().counts().permitsLent()).isEqualTo(1);
    assertThat(owner.lending().borrowed() + borrower.lending().lent()).isZero();

    // when it runs for a while, and others wait at the owner
    requests(owner, 1);
    pass(3_000);
    assertThat(borrower.lending().counts().savedRequestSeconds()).isBetween(2L, 4L);
    assertThat(owner.lending().counts().savedRequestSeconds()).isZero();
    all.forEach(it -> it.hold(false));
    pass(5_000);

    assertThat(borrower.lending().borrowed()).isZero();
    assertThat(owner.lending().lent()).isZero();
    assertThat(owner.lending().counts().sentRecalls()).isPositive()
        .isEqualTo(borrower.lending().counts().receivedRecalls());
  }

  @Test
  void acquiresPodsOfANewRevision_afterAnActivatorCrashed() {
    var one = start();
    var other = start();
    known();
    connected();
    links.getFirst().cut();
    pass(5_000);
    other.crash();
    all.remove(other);
    links.clear();
    one.activators(Set.of(one.id().address()));
    one.throttler().revisionGone(SimulatedActivator.ID);
    pass(10);
    one.throttler().revision(revision);
    one.members(List.of(one.id().address()));
    one.pods(pods(1));
    one.request();

    pass(15 * 60_000);

    assertThat(one.queued()).isZero();
  }

  @Test
  void keepsItsPods_whenASecondActivatorIsListed() {
    var one = start();
    known();
    pods(pods(2));
    start();

    // A revision learns its addresses before the fleet does.
    one.members(addresses().stream().sorted().toList());
    pass(1);
    one.activators(addresses());
    pass(1);
    requests(one, 2);

    assertThat(one.queued()).isZero();
  }

  @Test
  void usesItsSlice_whereAQueueProxyKeepsTheLimit_untilOthersAreLinked() {
    revision = revision(1, false);
    var one = start();
    start();
    known();
    pods(pods(1));

    all.forEach(it -> requests(it, 1));

    assertThat(one.queued()).isZero();
    assertThat(all.get(1).queued()).isZero();
  }

  @Test
  void usesItsSlice_whereAQueueProxyKeepsTheLimit_whileALinkIsCut() {
    revision = revision(1, false);
    start();
    start();
    known();
    connected();
    pods(pods(1));
    links.getFirst().cut();
    pass(5_000);

    all.forEach(it -> requests(it, 1));

    assertThat(all).allSatisfy(it -> assertThat(it.queued()).isZero());
    all.forEach(it -> it.hold(false));
    connected();
    assertThat(all.stream().filter(it -> owns(it, pods(1).getFirst()))).hasSize(1);
  }

  @Test
  void borrowsAgain_afterTheRevisionWasCreatedAgainHereAlone() {
    start();
    start();
    known();
    connected();
    pods(pods(4));
    for (var here : all) {
      var lender = all.get(all.indexOf(here) == 0 ? 1 : 0);
      assertThat(pods(4)).anyMatch(pod -> owns(lender, pod));
      here.throttler().revisionGone(SimulatedActivator.ID);
      pass(10);
      here.throttler().revision(revision);
      here.members(addresses().stream().sorted().toList());
      here.pods(pods(4));
      pass(1_000);

      requests(here, 4);
      assertThat(here.queued()).as(here.id().toString()).isZero();
      here.hold(false);
      pass(5_000);
      here.hold(true);
    }
  }

  @Test
  void runsNoMoreThanALoweredLimit_onceRequestsHaveEnded() {
    revision = revision(2, true);
    IntStream.range(0, 3).forEach(_ -> start());
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var borrowers = all.stream().filter(it -> !owns(it, pod)).toList();
    borrowers.forEach(it -> requests(it, 1));
    assertThat(running(pod)).isEqualTo(2);
    borrowers.forEach(it -> IntStream.range(0, 5).forEach(_ -> it.request()));
    pass(20);

    all.forEach(it -> it.throttler().revision(revision(1, true)));
    pass(1_000);
    borrowers.forEach(SimulatedActivator::answerOne);
    pass(1_000);

    assertThat(running(pod)).isEqualTo(1);
  }

  @Test
  void keepsAPodThatCouldNotBeReachedForAMoment_whileAnActivatorIsNotLinkedYet() {
    var one = start();
    start();
    known();
    connected();
    pods(pods(4));
    var mine = pods(4).stream().filter(pod -> owns(one, pod)).toList();
    start();
    known();

    requests(all.get(1), 4 - mine.size());
    requests(one, mine.size());
    one.retryAll();
    pass(2_000);

    assertThat(one.queued()).isZero();
  }

  /** Such as one whose node has no route to the pod's. */
  @Test
  void lendsAPod_thatItsOwnerCannotReach() {
    start();
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var others = all.stream().filter(it -> it != owner).toList();

    owner.pods(List.of());
    requests(others.getFirst(), 1);
    pass(3_000);
    assertThat(others.getFirst().running(pod)).isOne();

    // when another waits for longer than the next of the first
    requests(others.getLast(), 1);
    pass(2_000);
    requests(others.getFirst(), 1);
    others.getFirst().answerOne();
    pass(2_000);
    assertThat(others.getLast().running(pod)).isOne();

    // when its owner can reach it again
    owner.pods(pods(1));
    requests(owner, 1);
    others.getLast().answerOne();
    pass(2_000);
    assertThat(others.getFirst().running(pod)).isOne();
    others.getFirst().answerOne();
    pass(2_000);
    assertThat(owner.running(pod)).isOne();
  }

  @Test
  void lendsAPod_thatItsOwnerHasNeverReached() {
    start();
    start();
    known();
    connected();
    var pod = pods(1).getFirst();
    var borrower = all.stream()
        .filter(it -> !it.id().address().equals(ownerByHash(pod))).findFirst()
        .orElseThrow();

    borrower.pods(pods(1));
    requests(borrower, 2);
    pass(3_000);

    assertThat(borrower.running(pod)).isOne();
  }

  @Test
  void lendsAnotherPod_whereTheBorrowerCannotReachTheFirst() {
    start();
    start();
    known();
    connected();
    pods(pods(8));
    var owner = all.getFirst();
    var borrower = all.getLast();
    var mine = pods(8).stream().filter(pod -> owns(owner, pod)).toList();
    assertThat(mine).hasSizeGreaterThan(1);
    pods(mine);
    sent.clear();

    borrower.pods(List.of(mine.getLast()));
    requests(borrower, 1);
    pass(3_000);

    assertThat(borrower.running(mine.getLast())).isOne();
    assertThat(sent.stream().filter(PeerMessage.Grant.class::isInstance).count())
        .isLessThanOrEqualTo(mine.size());
  }

  @Test
  void doesNotLendAPermit_thatARequestThroughTheClusterIpUses() {
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var other = all.get(1 - all.indexOf(owner));
    owner.throttler().destinations(new HealthyDestinations(
        SimulatedActivator.ID, new Destination("10.3.0.1", 80), DestinationSet.of(pods(1))));
    pass(100);
    requests(owner, 1);
    assertThat(owner.running(new Destination("10.3.0.1", 80))).isOne();
    owner.pods(pods(1));
    pass(100);

    requests(other, 1);
    pass(2_000);

    assertThat(other.running(pod)).isZero();
  }

  @Test
  void lendsAgainAtOnce_whenARecallIsCancelledTooLate() {
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var borrower = all.get(1 - all.indexOf(owner));
    requests(borrower, 1);
    requests(owner, 1);
    requests(borrower, 1);

    owner.callersLeave();
    borrower.answerOne();
    pass(20);

    assertThat(borrower.running(pod)).isOne();
    assertThat(borrower.queued()).isZero();
  }

  @Test
  void offersAPodAgain_afterTheBorrowerCouldNotReachItForAMoment() {
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var borrower = all.get(1 - all.indexOf(owner));
    requests(borrower, 1);
    borrower.retryAll();
    pass(3_000);

    assertThat(borrower.running(pod)).isOne();
  }

  @Test
  void startsNothingOnABorrowedPermit_onceItsLeaseIsOver() {
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var borrower = all.get(1 - all.indexOf(owner));
    requests(borrower, 3);
    links.getFirst().cut();

    pass(6_000);
    borrower.answerOne();
    pass(100);
    assertThat(borrower.running(pod)).as("within the lease").isOne();
    assertThat(borrower.queued()).isOne();

    pass(6_000);
    borrower.answerOne();
    pass(100);
    assertThat(borrower.running(pod)).as("after it").isZero();
    assertThat(borrower.queued()).isOne();
    connected();
    assertThat(borrower.running(pod)).as("linked again").isOne();
  }

  /** The lender's beats come, and answer an old one. */
  @ParameterizedTest
  @EnumSource(names = {"NONE", "LEASE_FROM_ANSWER"})
  void startsNothingOnABorrowedPermit_onceItsLenderReceivesNothing(Faults fault) {
    faults = fault;
    revision = revision(1, true, Duration.ofSeconds(1), Map.of());
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var borrower = all.get(1 - all.indexOf(owner));
    all.forEach(it -> it.hold(false));
    requests(borrower, 3);
    links.getFirst().stall(borrower, Duration.ofSeconds(100));

    int most = 0;
    int served = 0;
    for (int i = 0; i < 18_000; i++) {
      borrower.request();
      if (i > 16_000) {
        owner.request();
      }
      pass(5);
      most = Math.max(most, running(pod));
      served += owner.running(pod);
    }

    assertThat(served).as("the pod is used again").isPositive();
    assertThat(most).isEqualTo(fault == Faults.NONE ? 1 : 2);
  }

  @Test
  void countsALentPermit_untilTheBorrowersLeaseAndItsRequestsAreOver() {
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var borrower = all.get(1 - all.indexOf(owner));
    requests(borrower, 1);
    links.getFirst().cut();
    int longestMillis = (15 + 60 + 5 * 60 * 9 / 8) * 1_000;
    pass(longestMillis - 10_000);
    requests(owner, 1);
    assertThat(owner.running(pod)).as("while the borrower may still run one").isZero();

    pass(15_000);

    assertThat(owner.running(pod)).as("after that").isOne();
  }

  @Test
  void servesTheOldestRequestOfAllActivatorsFirst() {
    IntStream.range(0, 4).forEach(_ -> start());
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    requests(ownerOf(pod), 1);
    var order = new ArrayList<Integer>();
    for (int i : new int[]{2, 0, 3, 1, 0, 2, 1, 3}) {
      requests(all.get(i), 1);
      order.add(i);
      pass(50);
    }

    var served = new ArrayList<Integer>();
    for (int i = 0; i < order.size(); i++) {
      all.forEach(SimulatedActivator::answerOne);
      pass(20);
      var running = all.stream().filter(it -> it.running(pod) > 0).toList();
      assertThat(running).as("after %s of %s: %s", served, order,
          all.stream().map(SimulatedActivator::view).toList()).hasSize(1);
      served.add(all.indexOf(running.getFirst()));
    }

    assertThat(served).isEqualTo(order);
  }

  @Test
  void countsWhatRanWithoutALimit_whenTheRevisionGetsOne() {
    revision = revision(0, true);
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    all.forEach(it -> requests(it, 1));
    assertThat(running(pod)).isEqualTo(2);

    changed(revision(1, true));
    var owner = ownerOf(pod);
    var other = all.get(1 - all.indexOf(owner));
    owner.answerOne();
    requests(owner, 1);
    pass(2_000);
    assertThat(owner.running(pod)).as("while one runs at the other").isZero();

    other.answerOne();
    pass(20);
    assertThat(owner.running(pod)).isOne();
  }

  @Test
  void waitsForActivatorsThatDoNotKnowOfTheLimitYet() {
    revision = revision(0, true);
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var late = all.get(1);
    var early = all.get(0);
    requests(late, 1);

    early.throttler().revision(revision(1, true));
    pass(1_000);
    requests(early, 1);
    assertThat(early.running(pod)).isZero();

    late.throttler().revision(revision(1, true));
    pass(1_000);
    assertThat(early.running(pod)).as("one runs at the other").isZero();
    late.answerOne();
    pass(20);
    assertThat(early.running(pod)).isOne();
  }

  @Test
  void lendsAndBorrowsAgain_afterTheLimitWasAwayForAMoment() {
    start();
    start();
    known();
    connected();
    pods(pods(2));
    changed(revision(0, true));
    all.forEach(it -> requests(it, 2));
    changed(revision(1, true));
    all.forEach(it -> it.hold(false));
    pass(1_000);
    all.forEach(it -> it.hold(true));

    requests(all.get(0), 3);

    assertThat(pods(2)).allSatisfy(pod -> assertThat(running(pod)).isOne());
    assertThat(all.get(0).queued()).isOne();
  }

  @Test
  void countsALentPermit_forAsLongAsTheTimeoutThatItsRequestsBeganWith() {
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    requests(all.get(1 - all.indexOf(owner)), 1);
    links.getFirst().cut();

    changed(revision(1, true, Duration.ofSeconds(1), Map.of()));
    requests(owner, 1);
    pass(200_000);

    assertThat(owner.running(pod)).isZero();
    connected();
  }

  /** The link was lost long ago, but the one that drains serves and lives. */
  @Test
  void takesNoPodOfAnActivatorThatDrains_whileItsRequestsMayRun() {
    var one = start();
    var other = start();
    known();
    connected();
    pods(pods(8));
    var its = pods(8).stream().filter(pod -> owns(other, pod)).toList();
    links.forEach(link -> {
      link.allow(false);
      link.cut();
    });
    pass(1_000_000);
    requests(other, its.size());
    assertThat(its).allSatisfy(pod -> assertThat(other.running(pod)).isOne());

    one.members(List.of(one.id().address()));
    requests(one, 8);
    pass(60_000);
    assertThat(its).allSatisfy(pod -> assertThat(running(pod)).isOne());

    // when the process is forgotten, too
    one.activators(Set.of(one.id().address()));
    pass(60_000);
    assertThat(its).allSatisfy(pod -> assertThat(running(pod)).isOne());

    other.hold(false);
    pass(1_000_000);
    assertThat(its).allSatisfy(pod -> assertThat(one.running(pod)).isOne());
  }

  @Test
  void forgetsAnActivator_onceItHasLeftAndNothingOfItCanRun() {
    var one = start();
    var other = start();
    known();
    connected();
    pods(pods(2));
    links.getFirst().cut();
    other.crash();
    one.activators(Set.of(one.id().address()));
    one.members(List.of(one.id().address()));
    pass(400_000);
    assertThat(one.view().sharing()).as("while its requests may run").isNotNull();

    pass(30_000);

    assertThat(one.view()).isEqualTo(LendingView.ALONE);
    requests(one, 2);
    assertThat(one.queued()).isZero();
    all.remove(other);
  }

  @Test
  void freesWhatItLent_whenAnotherProcessHasTheBorrowersAddress() {
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var borrower = all.get(1 - all.indexOf(owner));
    requests(borrower, 1);
    links.getFirst().cut();
    pass(10_000);
    requests(owner, 1);
    assertThat(owner.running(pod)).isZero();

    var successor = start(borrower.id().address());
    all.remove(borrower);
    links.removeIf(link -> link.isOf(borrower));
    borrower.throttler().revisionGone(SimulatedActivator.ID);
    borrower.answerOne();
    known();
    successor.pods(pods(1));
    connected();

    assertThat(owner.running(pod)).isOne();
  }

  @Test
  void refusesARequest_ifTheQueuesOfAllActivatorsAreAtTheBoundOfTheRevision() {
    revision = revision(1, true, Duration.ofMinutes(5),
        Map.of("activator.dev/queue-capacity", "3"));
    start();
    start();
    known();
    connected();
    requests(all.get(0), 1);
    requests(all.get(1), 3);
    assertThat(all.get(1).queued()).isEqualTo(2);

    requests(all.get(0), 1);
    assertThat(all.get(0).queued()).as("two wait at the other").isOne();

    all.get(1).callersLeave();
    pass(20);
    requests(all.get(0), 5);
    assertThat(all.get(0).queued()).as("none waits there any more").isEqualTo(3);
    pods(pods(3));
    assertThat(all.get(0).queued()).isZero();
  }

  @Test
  void countsEachQueueByItself_whileAnActivatorDoesNotLend() {
    revision = revision(1, true, Duration.ofMinutes(5),
        Map.of("activator.dev/queue-capacity", "3"));
    start();
    start();
    known();
    connected();
    all.forEach(it -> it.lending().legacy("10.1.0.9"));
    all.forEach(it -> it.members(List.of("10.1.0.1", "10.1.0.2", "10.1.0.9")));
    pass(100);

    all.forEach(it -> requests(it, 5));

    assertThat(all).allSatisfy(it -> assertThat(it.queued()).isEqualTo(3));
    pods(pods(3));
  }

  @Test
  void keepsItsPods_whenAnotherActivatorIsListed_afterThePreviousOneLeft() {
    var one = start();
    var other = start();
    known();
    connected();
    pods(pods(2));
    // The revision's addresses change before the process is known to have ended.
    one.members(List.of(one.id().address()));
    pass(10);
    one.lending().disconnected(other.id());
    one.lending().ended(other.id());
    one.activators(Set.of(one.id().address()));
    pass(1_000);
    assertThat(one.view()).isEqualTo(LendingView.ALONE);

    one.members(List.of(one.id().address(), "10.1.0.3"));
    one.activators(Set.of(one.id().address(), "10.1.0.3"));
    pass(1);
    requests(one, 2);

    assertThat(one.queued()).isZero();
  }

  @Test
  void isAtRest_afterManyPodsThatWereLentToSeveralAreGone() {
    var owner = start();
    start();
    start();
    known();
    connected();
    pods(pods(200));
    var mine = pods(200).stream().filter(pod -> owns(owner, pod)).limit(56).toList();
    for (int borrower = 1; borrower <= 2; borrower++) {
      pods(mine.subList((borrower - 1) * 28, borrower * 28));
      requests(all.get(borrower), 28);
      assertThat(all.get(borrower).lending().borrowed()).isEqualTo(28);
      all.get(borrower).hold(false);
      pass(5_000);
    }
    pods(List.of());
    pass(5_000);

    sent.clear();
    pass(5_000);

    assertThat(owner.view().pods()).hasSizeLessThanOrEqualTo(32);
    assertThat(sent).isNotEmpty().allSatisfy(it -> assertThat(it).isInstanceOf(Beat.class));
  }

  @Test
  void lendsAPermit_thatARequestTookWhileItWasLent_onceThatHasEnded() {
    var racing = new RacingPermits();
    var messages = new ArrayList<PeerMessage>();
    var lending = new Lending("10.1.0.1");
    var peer = new PeerId("10.1.0.2", "p");
    lending.start(world, (_, message) -> messages.add(message));
    lending.activators(Set.of("10.1.0.1", peer.address()));
    lending.connected(peer);
    var pod = pods(100).stream().filter(it -> "10.1.0.1".equals(
        new PodOwners(List.of("10.1.0.1", peer.address()), true, List.of()).owner(it)))
        .findFirst().orElseThrow();
    var id = SimulatedActivator.ID;
    racing.lending = lending.revision(id, world, racing,
        new Routed(List.of(pod), Set.of(), Set.of(), 1, true, Duration.ofMinutes(5)));
    racing.lending.open();
    pass(1);
    var asked = messages.stream().filter(View.class::isInstance).map(View.class::cast).toList()
        .getLast();
    lending.received(peer, new Beat(1, 1));
    lending.received(peer, new View(id, 1, asked.view()));
    lending.received(peer, new Yield(id, asked.epoch(), 1, Map.of()));
    racing.lending.routed(new Routed(List.of(pod), Set.of(), Set.of(), 1, true,
        Duration.ofMinutes(5)));
    pass(1);
    assertThat(racing.held).isOne();

    racing.takenMeanwhile = true;
    lending.received(peer, new Want(id, 1, 1, Duration.ofMillis(50), 0));
    pass(1);
    assertThat(racing.running).isOne();
    assertThat(messages).noneMatch(Grant.class::isInstance);
    racing.release();
    pass(1);

    assertThat(messages).anyMatch(Grant.class::isInstance);
    racing.lending.close();
  }

  @Test
  void servesItsOwnRequests_whileMessagesOfAnotherActivatorAreTooLateToBorrow() {
    start();
    start();
    known();
    connected();
    pods(pods(1));
    var owner = ownerOf(pods(1).getFirst());
    var borrower = all.get(1 - all.indexOf(owner));
    late.add(borrower.id());
    all.forEach(it -> it.hold(false));
    pass(40_000);
    for (int i = 0; i < 30; i++) {
      borrower.request();
      requests(owner, 1);
      pass(1_000);
    }

    assertThat(owner.queued()).isZero();
    links.getFirst().cut();
    pass(25_000);
    late.clear();
    connected();
    assertThat(borrower.queued()).isZero();
  }

  /** One pod with a limit of 1, of which another thread takes the permit just before it is lent. */
  private static final class RacingPermits implements LocalPermits {
    private RevisionLending lending;
    private boolean takenMeanwhile;
    private int held;
    private int target;
    private int running;

    @Override
    public int hold(Destination pod, int permits, @Nullable Lease lease) {
      if (takenMeanwhile) {
        takenMeanwhile = false;
        running++;
      }
      target = permits;
      held = Math.max(permits, running);
      return held;
    }

    void release() {
      running--;
      if (held > target) {
        held--;
        lending.changed();
      }
    }

    @Override
    public int held(Destination pod) {
      return held;
    }

    @Override
    public int running(Destination pod) {
      return running;
    }

    @Override
    public Map<Destination, Integer> running() {
      return Map.of();
    }

    @Override
    public int queued() {
      return 0;
    }

    @Override
    public void queuedElsewhere(int requests) {}

    @Override
    public long oldestNanos() {
      return 0;
    }

    @Override
    public void grant() {}

    @Override
    public void reroute() {}
  }

  @Test
  void knowsThePeers_whenTheLoopRunsBeforeTheThrottlerIsComplete() throws Exception {
    var lending = new Lending("10.1.0.1");
    lending.start(world, (_, _) -> {
    });
    lending.activators(Set.of("10.1.0.1", "10.1.0.2"));
    lending.connected(new PeerId("10.1.0.2", "p"));
    try (var thread = Executors.newSingleThreadExecutor()) {
      var loop = new LoopThatIsFaster(thread);
      var throttler = Quiescence.watch(new Throttler(_ -> loop, _ -> revision, "10.1.0.1",
          RevisionOptions.of(10), random, lending));

      throttler.revision(revision);

      assertThat(loop.failures).isEmpty();
      var view = thread.submit(() -> throttler.inspect(SimulatedActivator.ID)).get().lending();
      assertThat(view.activators()).containsExactly("10.1.0.1", "10.1.0.2");
      throttler.revisionGone(SimulatedActivator.ID);
    }
  }

  /** Has run each task of another thread when that thread goes on. */
  private static final class LoopThatIsFaster implements Loop {
    private final Thread other = Thread.currentThread();
    private final ExecutorService thread;
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();

    LoopThatIsFaster(ExecutorService thread) {
      this.thread = thread;
    }

    @Override
    public void execute(Runnable task) {
      var done = CompletableFuture.runAsync(task, thread).exceptionally(failure -> {
        failures.add(failure);
        return null;
      });
      if (Thread.currentThread() == other) {
        done.join();
      }
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return () -> {
      };
    }

    @Override
    public long nanoTime() {
      return 0;
    }
  }

  private SimulatedActivator ownerOf(Destination pod) {
    return all.stream().filter(it -> owns(it, pod)).findFirst().orElseThrow();
  }
}
