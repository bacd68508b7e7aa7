package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ScalingView.ActiveCondition;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.ScalingView;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class SlowStartsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");

  private final VirtualLoop loop = new VirtualLoop();
  private final List<RevisionId> watched = new ArrayList<>();
  private final SlowStarts starts = new SlowStarts(loop, watched::add);

  private void becomes(ScaleState state) {
    starts.changed(new ScalingView(WEB, new ScaleTargetRef("apps/v1", "Deployment", "web"),
        OptionalInt.of(1), OptionalInt.of(1), OptionalInt.of(1), 0, state,
        ActiveCondition.unknown(0), "", null, "", null));
    pass(0);
  }

  private void pass(int seconds) {
    loop.advance(Duration.ofSeconds(seconds));
  }

  @Test
  void areWatchedWhileNoPodIsReady() {
    becomes(ScaleState.WAKING);
    pass(4);
    assertThat(watched).isEmpty();

    pass(1);
    becomes(ScaleState.WAKING);
    pass(10);
    assertThat(watched).containsExactly(WEB, WEB, WEB);

    becomes(ScaleState.RUNNING);
    pass(60);
    assertThat(watched).hasSize(3);
  }

  @Test
  void areNotWatchedForEver() {
    becomes(ScaleState.WAKING);
    pass(600);
    assertThat(watched).hasSize(24);

    becomes(ScaleState.ZERO);
    becomes(ScaleState.WAKING);
    pass(5);
    assertThat(watched).hasSize(25);
  }

  @Test
  void areWatchedAgainByALaterTerm() {
    becomes(ScaleState.WAKING);
    pass(600);
    starts.reset();
    becomes(ScaleState.WAKING);
    pass(5);
    assertThat(watched).hasSize(25);
  }

  @Test
  void areNotWatchedOnceAnotherScalesTheWorkload() {
    becomes(ScaleState.WAKING);
    starts.gone(WEB);
    pass(60);
    assertThat(watched).isEmpty();
  }
}
