package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessage.Beat;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long a borrower may use what it borrowed. */
class PeerActivatorTest {
  private static final long START = Long.MAX_VALUE - 5_000_000_000L;

  private final PeerActivator peer = new PeerActivator(new PeerId("10.1.0.2", "p"), START);

  private static long after(int seconds) {
    return START + Duration.ofSeconds(seconds).toNanos();
  }

  @Test
  void leasesFromTheSendingOfABeat_notFromItsAnswer() {
    peer.connected(START);
    var sent = peer.nextBeat(START);

    peer.received(new Beat(1, sent.number()), after(7));

    assertThat(peer.lease().isOver(after(7))).isFalse();
    assertThat(peer.lease().isOver(after(9))).isFalse();
    assertThat(peer.lease().isOver(after(10))).isTrue();
  }

  @Test
  void extendsALeaseOnlyWhileItLasts() {
    peer.connected(START);
    peer.received(new Beat(1, peer.nextBeat(START).number()), after(1));
    var first = peer.lease();

    peer.received(new Beat(2, peer.nextBeat(after(4)).number()), after(5));
    assertThat(peer.lease()).isSameAs(first);
    assertThat(first.isOver(after(13))).isFalse();

    peer.received(new Beat(3, peer.nextBeat(after(20)).number()), after(21));
    assertThat(first.isOver(after(21))).isTrue();
    assertThat(peer.lease().isOver(after(21))).isFalse();
  }

  @Test
  void doesNotLeaseForAnAnswerOfAnEarlierConnection() {
    peer.connected(START);
    var sent = peer.nextBeat(START);
    peer.disconnected();
    peer.connected(after(1));

    peer.received(new Beat(1, sent.number()), after(2));

    assertThat(peer.lease().isOver(after(2))).isTrue();
  }
}
