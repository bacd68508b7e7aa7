package dev.activator.ext.affinity;

import static dev.activator.ext.affinity.AffinityScene.SESSION;
import static dev.activator.ext.affinity.AffinityScene.WEB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.Loop;
import dev.activator.observability.FakeRequest;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.testing.VirtualLoop;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How requests count for the autoscaler. */
class KeyCountsTest {
  private static final class Counted implements RevisionCount {
    int now;

    @Override
    public void arrived() {
      now++;
    }

    @Override
    public void left() {
      now--;
    }
  }

  private final AffinityScene scene = new AffinityScene(0, "header", SESSION, "mode", "exclusive");
  private final Counted count = new Counted();

  private RevisionCount arrives(String session) {
    return arrives(session, count, scene.loop);
  }

  private RevisionCount arrives(String session, RevisionCount each, Loop on) {
    var request = FakeRequest.of(scene.affinities, scene.loop, scene.revisions.of(WEB));
    if (!session.isEmpty()) {
      request.headers.put(SESSION, session);
    }
    var its = scene.affinities.of(request, scene.revisions.of(WEB), each, on);
    its.arrived();
    return its;
  }

  @Test
  void requestsOfOneKeyCountAsOne_ifAPodServesOneKey() {
    var first = arrives("a");
    var second = arrives("a");
    var other = arrives("b");
    assertThat(count.now).isEqualTo(2);
    assertThat(scene.affinities.keysInFlight()).isEqualTo(2);

    first.left();
    assertThat(count.now).isEqualTo(2);
    second.left();
    other.left();

    assertThat(count.now).isZero();
    assertThat(scene.affinities.keysInFlight()).isZero();
  }

  @Test
  void requestsWithoutAKeyCountOneByOne() {
    arrives("");
    arrives("");

    assertThat(count.now).isEqualTo(2);
  }

  @Test
  void requestsCountOneByOneInOtherModes() {
    scene.changes(0, "header", SESSION);
    arrives("a");
    arrives("a");

    assertThat(count.now).isEqualTo(2);
  }

  @Test
  void aRequestThatIsRejectedAtZeroDoesNotCount() {
    scene.changes(0, "header", SESSION, "mode", "strict", "on-pod-gone", "reject");
    scene.has(AffinityScene.pods(1));
    scene.begins("a");
    arrives("a").left();
    scene.has(List.of());

    arrives("a");
    assertThat(count.now).isZero();
    arrives("never issued");
    arrives("");
    assertThat(count.now).isEqualTo(2);
  }

  @Test
  void aKeyIsCountedOutOnTheLoopThatCountedIt() {
    var other = VirtualLoop.nearOverflow();
    var elsewhere = new Counted();
    var first = arrives("a");
    var second = arrives("a", elsewhere, other);
    first.left();
    assertThat(elsewhere.now).isZero();

    second.left();
    assertThat(count.now).isEqualTo(1);
    scene.loop.run();

    assertThat(count.now).isZero();
  }
}
