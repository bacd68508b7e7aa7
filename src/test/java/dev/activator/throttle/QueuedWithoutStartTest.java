package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class QueuedWithoutStartTest extends ThrottlerScene {
  @Test
  void publishesAStart_forARequestThatWasReturnedWhenTheLastPodWent() {
    var starts = new ArrayList<RevisionId>();
    throttler.starts().subscribe("test", starts::add);
    exists(1);
    pods(A);
    var request = request();
    pods();
    request.retry();
    loop.run();

    assertThat(request.waits()).isTrue();
    assertThat(starts).containsExactly(ID);
  }

  @Test
  void publishesAStart_forARequestThatIsQueuedWhenTheLastPodGoes() {
    var starts = new ArrayList<RevisionId>();
    throttler.starts().subscribe("test", starts::add);
    exists(1);
    pods(A);
    var two = requests(2);
    pods();
    two.getFirst().release();
    loop.advance(Duration.ofSeconds(10));

    assertThat(two.getLast().waits()).isTrue();
    assertThat(starts).containsExactly(ID);
  }

  /** It is back after a moment, or the subset without it is what publishes the start. */
  @Test
  void publishesNoStart_forARequestThatComesWhileTheOnlyPodIsEjected() {
    var starts = new ArrayList<RevisionId>();
    throttler.starts().subscribe("test", starts::add);
    exists(1);
    pods(A);
    request().retry();
    request();
    loop.advance(Duration.ofSeconds(1));

    assertThat(starts).isEmpty();
  }

  @Test
  void publishesOneStart_whenTheEjectedPodGoes() {
    var starts = new ArrayList<RevisionId>();
    throttler.starts().subscribe("test", starts::add);
    exists(1);
    pods(A);
    request().retry();
    request();
    loop.run();
    pods();
    loop.advance(Duration.ofSeconds(10));

    assertThat(starts).containsExactly(ID);
  }
}
