package dev.activator.ext.lending.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessage;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.PeerSnapshot.State;
import dev.activator.ext.lending.link.SimulatedPeers.Activator;
import dev.activator.wire.PeerFrame;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeerNetworkTest {
  private static final String A = "10.0.0.1";
  private static final String B = "10.0.0.2";
  private static final String POD = "10.9.9.9";
  private static final Duration SOON = Duration.ofMillis(10);
  /** Both have dialled. */
  private static final Duration WHILE = Duration.ofSeconds(10);
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final SimulatedPeers peers = new SimulatedPeers();

  private void seeEachOther(Activator... all) {
    for (var one : all) {
      one.sees(A, B);
    }
  }

  private static long count(Activator of, String event) {
    return of.events.stream().filter(event::equals).count();
  }

  @Test
  void linksTwoActivatorsOnce() {
    var a = peers.activator(A);
    var b = peers.activator(B);

    seeEachOther(a, b);
    peers.advance(WHILE);

    assertThat(a.events).containsExactly("activators [" + A + "]",
        "activators [" + A + ", " + B + "]", "connected " + B);
    assertThat(b.events).containsExactly("activators [" + B + "]",
        "activators [" + A + ", " + B + "]", "connected " + A);
    assertThat(a.wires).as("only the smaller address dialled").hasSize(1);
    assertThat(a.view(B)).isEqualTo(new PeerSnapshot(B, "pod-" + B, State.LINKED, "",
        Duration.ofMillis(2), null));
  }

  @Test
  void linksAtTheFirstAttempt_whereTheHandshakeIsSlow() {
    peers.handshakesTake(Duration.ofSeconds(8));
    var a = peers.activator(A);
    var b = peers.activator(B);

    seeEachOther(a, b);
    peers.advance(WHILE);

    assertThat(a.view(B).state()).isEqualTo(State.LINKED);
    assertThat(b.view(A).state()).isEqualTo(State.LINKED);
  }

  /** As with two pods that start at once. */
  @Test
  void linksTwoActivatorsOnce_thatDialAtTheSameTime() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    b.sees(A, B);
    peers.advance(PeerState.TURN);
    assertThat(b.wires).hasSize(1);

    a.sees(A, B);
    peers.advance(WHILE);

    assertThat(count(a, "connected " + B)).isEqualTo(1);
    assertThat(count(b, "connected " + A)).isEqualTo(1);
    assertThat(a.events).doesNotContain("disconnected " + B);
  }

  @Test
  void deliversMessagesInOrder_andToTheirProcessAlone() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);
    a.events.clear();
    var id = new PeerId(A, "pod-" + A + "/1");

    for (int i = 1; i <= 3; i++) {
      b.network.send(id, new PeerMessage.Beat(i, 0));
    }
    b.network.send(new PeerId(A, "pod-" + A + "/7"), new PeerMessage.Beat(9, 0));
    peers.advance(SOON);

    assertThat(a.events).containsExactly(B + " Beat[number=1, answered=0]",
        B + " Beat[number=2, answered=0]", B + " Beat[number=3, answered=0]");
  }

  @Test
  void requestsTheLoadOfLinkedActivators_andForgetsOldAnswers() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(WHILE);

    a.network.requestLoads();
    peers.advance(SOON);
    assertThat(a.view(B).load()).as("it reports none").isNull();

    b.network.answerLoads(() -> new PeerSnapshot.Load(2, 3));
    a.network.requestLoads();
    peers.advance(SOON);
    assertThat(a.view(B).load()).isEqualTo(new PeerSnapshot.Load(2, 3));
    assertThat(a.view(B).state()).isEqualTo(State.LINKED);

    peers.advance(WHILE);
    assertThat(a.view(B).load()).as("it was not requested again").isNull();
  }

  @Test
  void ignoresPodsInPublicEndpoints() {
    var a = peers.activator(A);

    a.sees(B, POD);
    peers.advance(MINUTE);

    assertThat(a.network.views()).isEmpty();
    assertThat(a.wires).isEmpty();
    assertThat(a.keysRead).as("a single activator reads no key").isZero();
  }

  @Test
  void takesAnActivatorThatDoesNotListenForKnatives_andTriesAgain() {
    var a = peers.activator(A);

    a.sees(A, B);
    peers.advance(WHILE);

    assertThat(a.view(B).state()).isEqualTo(State.LEGACY);
    assertThat(count(a, "legacy " + B)).isEqualTo(1);
    a.wires.clear();
    peers.advance(MINUTE.multipliedBy(2));
    assertThat(a.wires).as("once a minute").hasSizeLessThan(3);
  }

  @Test
  void waitsForAnActivatorWhoseContainerIsRestarted() {
    var a = peers.activator(A);
    a.sees(A, B);
    peers.advance(PeerState.RESTART.minusSeconds(2));

    var b = peers.activator(B);
    b.sees(A, B);
    peers.advance(WHILE);

    assertThat(a.view(B).state()).isEqualTo(State.LINKED);
    assertThat(a.events).doesNotContain("legacy " + B);
  }

  @Test
  void linksAnActivatorThatReplacesKnatives() {
    var a = peers.activator(A);
    a.sees(A, B);
    peers.advance(WHILE);

    var b = peers.activator(B);
    b.sees(A, B);
    peers.advance(Duration.ofSeconds(4));

    assertThat(a.view(B).state()).isEqualTo(State.LINKED);
    assertThat(a.events).endsWith("legacy " + B, "connected " + B);
  }

  @Test
  void readsTheKeyAgain_whereItIsAnother() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    b.key = "k2";
    seeEachOther(a, b);
    peers.advance(WHILE);
    assertThat(a.view(B).state()).isEqualTo(State.UNAUTHORISED);
    assertThat(b.view(A).state()).isEqualTo(State.UNAUTHORISED);
    assertThat(a.keysRead).isGreaterThan(1);

    b.key = "k1";
    peers.advance(MINUTE);

    assertThat(a.view(B).state()).isEqualTo(State.LINKED);
    assertThat(b.events).doesNotContain("legacy " + A).contains("connected " + A);
  }

  @Test
  void readsTheKey_afterItsListOfActivators_beforeTheOtherSideDials() {
    var b = peers.activator(B);

    b.sees(A, B);

    assertThat(b.wires).isEmpty();
    assertThat(b.keysRead).isOne();
    assertThat(b.beforeKey).endsWith("activators [" + A + ", " + B + "]");
  }

  @Test
  void saysWhatIsMissing_whereTheKeyCannotBeRead() {
    var a = peers.activator(A);
    a.keyProblem = "cannot get it: 403";
    a.sees(A, B);
    peers.advance(WHILE);

    assertThat(a.view(B).state()).isEqualTo(State.UNAUTHORISED);
    assertThat(a.view(B).problem()).isEqualTo("cannot get it: 403");
    assertThat(a.keysRead).as("not again within a minute").isEqualTo(1);
    assertThat(a.wires).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void endsALinkThatIsSilent_inEitherDirection(boolean toTheSmaller) {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);

    peers.stall(toTheSmaller ? B : A, toTheSmaller ? A : B);
    peers.advance(WHILE);

    assertThat(a.view(B).state()).isEqualTo(State.UNREACHABLE);
    assertThat(b.view(A).state()).isEqualTo(State.UNREACHABLE);
    assertThat(count(a, "disconnected " + B)).isEqualTo(1);
    assertThat(count(b, "disconnected " + A)).isEqualTo(1);
    assertThat(a.events).doesNotContain("ended " + B);

    peers.heal();
    peers.advance(MINUTE);
    assertThat(a.view(B).state()).isEqualTo(State.LINKED);
    assertThat(b.view(A).state()).isEqualTo(State.LINKED);
    assertThat(a.events).endsWith("connected " + B).doesNotContain("ended " + B);
  }

  /** However long it was cut: meanwhile, permits are reserved for the other side. */
  @Test
  void linksAgainWithinSeconds_onceALongCutIsOver() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.stall(A, B);
    peers.stall(B, A);
    peers.advance(MINUTE.multipliedBy(10));

    peers.heal();
    peers.advance(Duration.ofSeconds(20));

    assertThat(a.view(B).state()).isEqualTo(State.LINKED);
  }

  @Test
  void linksFromTheLargerAddress_whereTheSmallerCannotDial() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    a.sees(A, B);
    a.wires.forEach(PeerSocket::close);
    a.wires.clear();

    b.sees(A, B);
    peers.advance(MINUTE);

    assertThat(b.view(A).state()).isEqualTo(State.LINKED);
    assertThat(count(a, "connected " + B)).isEqualTo(1);
  }

  @Test
  void knowsThatAProcessHasEnded_whichSaysSo() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);

    b.ends();
    peers.advance(SOON);

    assertThat(a.events).endsWith("disconnected " + B, "ended " + B);
  }

  @Test
  void knowsThatAProcessHasEnded_whenAnotherHasItsPlace() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);
    b.isKilled();
    peers.advance(SOON);
    assertThat(a.events).endsWith("disconnected " + B);

    var again = peers.activator(B);
    again.sees(A, B);
    peers.advance(WHILE);

    assertThat(a.events).endsWith("disconnected " + B, "ended " + B, "connected " + B);
  }

  private Activator[] linked() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);
    return new Activator[]{a, b};
  }

  @Test
  void knowsThatAProcessHasEnded_whenItsKernelSaysSo_andItIsListedNoMore() {
    var both = linked();
    both[1].isKilled();
    peers.advance(Duration.ofSeconds(5));
    assertThat(both[0].events).as("listed").endsWith("disconnected " + B);

    both[0].sees(A);
    peers.advance(Duration.ofMillis(100));

    assertThat(both[0].events).endsWith("disconnected " + B, "ended " + B,
        "activators [" + A + "]");
    assertThat(both[0].network.views()).isEmpty();
  }

  /** A firewall may do the same to one that lives. */
  @Test
  void waitsForTheLease_whereTheLinkWasReset() {
    var both = linked();
    both[1].isReset();
    both[0].sees(A);

    peers.advance(Duration.ofMillis(14_900));
    assertThat(both[0].events).endsWith("disconnected " + B);
    peers.advance(Duration.ofMillis(200));

    assertThat(both[0].events).endsWith("ended " + B, "activators [" + A + "]");
  }

  /** Its port is taken: a refused connection says nothing of it. */
  @Test
  void waitsForTheLease_whereNoActivatorCouldConnectToIt() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    b.listens = false;
    seeEachOther(a, b);
    peers.advance(SOON);
    b.isKilled();
    a.sees(A);

    peers.advance(Duration.ofMillis(14_900));

    assertThat(a.events).endsWith("disconnected " + B);
  }

  @Test
  void keepsWhatItKnows_whereTheOtherStillListens() {
    var both = linked();
    both[0].wires.forEach(wire -> wire.far.finish());
    both[1].wires.forEach(wire -> wire.cut("closed"));
    both[0].sees(A);
    both[1].sees(A);

    peers.advance(SOON);

    assertThat(both[0].events).doesNotContain("ended " + B).endsWith("connected " + B);
  }

  @Test
  void knowsThatAProcessHasEnded_whenNothingListensForLong() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);

    b.isKilled();
    peers.advance(Duration.ofSeconds(14));
    assertThat(a.events).endsWith("disconnected " + B);
    peers.advance(Duration.ofMillis(1_100));

    assertThat(a.events).contains("ended " + B);
    assertThat(a.events).as("the next one lends, too").doesNotContain("legacy " + B);
    assertThat(a.view(B).state()).isEqualTo(State.UNREACHABLE);
  }

  @Test
  void keepsTheLinkOfAnActivatorThatDrains() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);

    a.sees(A);
    b.sees(A);
    peers.advance(MINUTE);

    assertThat(a.view(B).state()).isEqualTo(State.LINKED);
    assertThat(a.events).doesNotContain("disconnected " + B);
    b.ends();
    peers.advance(SOON);
    assertThat(a.events).endsWith("disconnected " + B, "ended " + B,
        "activators [" + A + "]");
    assertThat(a.network.views()).isEmpty();
  }

  @Test
  void linksAgain_withAnActivatorThatDrains() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);
    a.sees(A);
    b.sees(A);

    peers.stall(A, B);
    peers.stall(B, A);
    peers.advance(WHILE);
    peers.heal();
    peers.advance(MINUTE);

    assertThat(a.view(B).state()).isEqualTo(State.LINKED);
    assertThat(a.events).endsWith("disconnected " + B, "connected " + B);
  }

  @Test
  void forgetsALostActivator_afterTheLongestRequest() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    seeEachOther(a, b);
    peers.advance(SOON);
    a.sees(A);
    peers.stall(A, B);
    peers.stall(B, A);

    peers.advance(Duration.ofMinutes(10));
    assertThat(a.network.views()).hasSize(1);
    peers.advance(Duration.ofMinutes(2));

    assertThat(a.network.views()).isEmpty();
    assertThat(a.events).endsWith("activators [" + A + "]").doesNotContain("ended " + B);
  }

  @Test
  void refusesAStranger_whoseAddressIsNoActivators() {
    var a = peers.activator(A);
    var stranger = peers.activator(POD);
    a.sees(A);

    stranger.sees(A, POD);
    peers.advance(MINUTE);

    assertThat(a.events).containsExactly("activators [" + A + "]");
    assertThat(stranger.events).doesNotContain("connected " + A);
  }

  @Test
  void changesNothing_beforeHello() {
    var a = peers.activator(A);
    a.sees(A, B);
    var socket = new RecordedSocket();

    var events = a.network.accepted(socket);
    events.opened();
    events.received(PeerCodec.encode(new PeerMessage.Beat(1, 0)).build());

    assertThat(socket.closed).isTrue();
    assertThat(a.events).doesNotContain("connected " + B);
  }

  @Test
  void endsALink_whoseMessageIsMalformed() {
    var a = peers.activator(A);
    a.sees(A, B);
    peers.advance(SOON);
    var socket = new RecordedSocket();
    var events = a.network.accepted(socket);
    events.received(hello(B, 1));
    assertThat(a.events).endsWith("connected " + B);

    events.received(PeerFrame.newBuilder()
        .setGrant(PeerFrame.Loan.newBuilder().setAccount(1)).build());

    assertThat(socket.closed).isTrue();
    assertThat(a.events).endsWith("disconnected " + B);
  }

  @Test
  void givesUpAConnection_withoutHello() {
    var a = peers.activator(A);
    a.sees(A, B);
    var socket = new RecordedSocket();

    a.network.accepted(socket).opened();
    peers.advance(PeerLink.HELLO_TIMEOUT);

    assertThat(socket.closed).isTrue();
  }

  @Test
  void skipsWhatANewerVersionSays() {
    var a = peers.activator(A);
    a.sees(A, B);
    peers.advance(SOON);
    var socket = new RecordedSocket();
    var events = a.network.accepted(socket);
    events.received(hello(B, 2));

    events.received(PeerFrame.getDefaultInstance());

    assertThat(socket.closed).isFalse();
  }

  @Test
  void leavesNoTimer_whenItIsClosed() {
    var a = peers.activator(A);
    var b = peers.activator(B);
    a.sees(A, B, POD);
    b.sees(A, B);
    peers.advance(WHILE);

    a.network.close();
    b.network.close();
    peers.advance(SOON);

    assertThat(peers.loop.pending()).isZero();
  }

  private static PeerFrame hello(String address, int protocol) {
    return PeerFrame.newBuilder().setHello(PeerFrame.Hello.newBuilder().setPod("b")
        .setIncarnation(5).setProtocol(protocol).setAddress(address)).build();
  }

  private static final class RecordedSocket implements PeerSocket {
    private boolean closed;

    @Override
    public void send(PeerFrame frame) {}

    @Override
    public void close() {
      closed = true;
    }
  }
}
