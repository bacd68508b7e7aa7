package dev.activator.backend;

import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.B;
import static dev.activator.backend.Fixtures.C;
import static dev.activator.backend.Fixtures.REVISION;
import static dev.activator.backend.Fixtures.notReady;
import static dev.activator.backend.Fixtures.pods;
import static dev.activator.backend.Fixtures.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.LiveRevisions;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Thousands of changes of Endpoints that come before the revision's loop has its turn. */
@Tag("burst")
class EventBurstTest {
  private static final int EVENTS = 5_000;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakePods fake = new FakePods(loop);
  private final List<HealthyDestinations> published = new ArrayList<>();
  private final LiveRevisions live = new LiveRevisions(_ -> loop);
  private final RevisionBackendsManager backends = Fixtures.manager(live, loop, fake);
  private final ReportedObjects objects = new ReportedObjects(live, backends);

  private static PrivateEndpoints http1(PodsByReadiness pods) {
    return new PrivateEndpoints(REVISION, pods, PodsByReadiness.NONE);
  }

  @Test
  void servesThePodsOfTheLastEvent_whenThousandsComeAtOnce() {
    backends.healthy().subscribe("test", published::add);
    objects.revision(Revision.of(REVISION, 1));
    for (int i = 0; i < EVENTS; i++) {
      objects.listed(http1(i % 3 == 0 ? ready(A) : i % 3 == 1 ? notReady(A, B) : ready(B, C)));
    }
    objects.listed(http1(ready(A, C)));

    loop.advance(Duration.ofSeconds(5));

    assertThat(published.getLast()).isEqualTo(pods(A, C));
  }

  @Test
  void keepsNothing_whenARevisionComesAndGoesThousandsOfTimes() {
    for (int i = 0; i < EVENTS; i++) {
      objects.revision(Revision.of(REVISION, 1));
      objects.listed(http1(ready(A, B)));
      objects.podsGone(REVISION);
      objects.revisionGone(REVISION);
    }

    loop.advance(Duration.ofSeconds(5));

    assertThat(backends.view(REVISION)).isNull();
    assertThat(loop.pending()).isZero();
  }
}
