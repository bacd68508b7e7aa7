package dev.activator.backend;

import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.B;
import static dev.activator.backend.Fixtures.C;
import static dev.activator.backend.Fixtures.TRAITS;
import static dev.activator.backend.Fixtures.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The sequences of checks in Knative's own tests. Between two steps comes half a minute; a pod that
 * the reference asks once a check is asked until it answers here.
 */
class CheckSequencesTest {
  private static final Destination D = new Destination("128.0.0.4", 1234);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakePods fake = new FakePods(loop);
  private final List<DestinationSet> updates = new ArrayList<>();
  private final RevisionWatcher watcher = Fixtures.watcher(TRAITS, loop, fake,
      now -> updates.add(now.pods()));

  private void refuse(Destination... pods) {
    for (var pod : pods) {
      fake.answers(pod, FakePods.REFUSED);
    }
  }

  private void answer(Destination... pods) {
    for (var pod : pods) {
      fake.answers(pod, FakePods.OK);
    }
  }

  /** Lists these, and checks what serves in the end, and whether that is news. */
  private void then(String step, PodsByReadiness listing, boolean isNews, Destination... serving) {
    int before = updates.size();
    watcher.listed(listing);
    loop.advance(Duration.ofSeconds(30));
    assertThat(updates.getLast()).as(step).isEqualTo(DestinationSet.of(serving));
    assertThat(updates.size() > before).as(step).isEqualTo(isNews);
  }

  private static PodsByReadiness listing(DestinationSet ready, Destination... notReady) {
    return new PodsByReadiness(ready, DestinationSet.of(notReady));
  }

  @Test
  @DisplayName("to CD-05 a pod that starts, and one that falls from ready and comes back")
  void onePodStartsAndOneBecomesUnready() {
    refuse(A);
    var bAndC = listing(DestinationSet.of(B, C), A);
    then("CD-01", bAndC, true, B, C);
    then("CD-02", bAndC, false, B, C);

    refuse(C);
    var bAlone = listing(DestinationSet.of(B), A, C);
    then("CD-03", bAlone, true, B);
    answer(C);
    then("CD-04", bAlone, true, B, C);
    answer(A);
    then("CD-05", bAlone, true, A, B, C);
  }

  @Test
  @DisplayName("to SW-09 pods come, go, fail and answer")
  void publishesHealthyPods_whenPodsComeGoFailAndAnswer() {
    refuse(A);
    then("SW-01", ready(A, B), true, B);
    answer(A);
    then("SW-02", ready(A), true, A);
    refuse(B);
    then("SW-03", ready(A, B), false, A);
    answer(B);
    then("SW-04", ready(A, B), true, A, B);
    int asked = fake.asked().size();
    then("SW-05", ready(A, B), false, A, B);
    assertThat(fake.asked()).hasSize(asked);

    refuse(D);
    var withD = listing(DestinationSet.of(A, B), D);
    then("SW-06", withD, false, A, B);
    answer(D);
    then("SW-07", withD, true, A, B, D);
    then("SW-08", ready(B, C), true, B, C);
    then("SW-09", ready(B), true, B);
  }
}
