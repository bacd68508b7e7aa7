package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.ProbeSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.cluster.ClusterWatcher;
import dev.activator.cluster.ClusterAccess;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.StubQueuedCaller;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.upstream.ProbeResult;
import java.net.URI;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ThrottlerConfigurationTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final Revision REVISION = Revision.of(ID, 1);

  private final VirtualLoop loop = new VirtualLoop();
  private final ClusterWatcher cluster = new ClusterWatcher(
      () -> new ClusterAccess.At(URI.create("http://127.0.0.1:1")), TestValues.OLDEST_KUBERNETES,
      Duration.ofSeconds(1), ReflectorSettings.DEFAULT, new Random(1), TestValues.ANY_SLICES);
  private int probes;
  private final RevisionBackendsManager backends = new RevisionBackendsManager(_ -> loop, loop,
      (on, request, done) -> on.execute(() -> {
        probes++;
        done.accept(new ProbeResult.Refused("connection refused"));
      }), ProbeSettings.DEFAULT, new Random(1));
  private final Throttler throttler = new Throttler(_ -> loop, id -> REVISION, "10.9.9.9",
      ThrottlerOptions.of(100), new Random(1));

  @Test
  void aRequestThatHasToWaitHasItsPodProbedAtOnce() {
    ThrottlerConfiguration.join(cluster, backends, throttler);
    backends.revision(REVISION);
    throttler.revision(REVISION);
    backends.listed(new PrivateEndpoints(ID,
        new PodsByReadiness(DestinationSet.of(new Destination("10.0.0.1", 8012)),
            DestinationSet.NONE),
        PodsByReadiness.NONE));
    // given a pod that has been silent for so long that it is seldom probed
    loop.advance(Duration.ofMinutes(5));
    probes = 0;
    loop.advance(Duration.ofSeconds(1));
    assertThat(probes).isLessThan(2);

    probes = 0;
    var caller = new StubQueuedCaller(loop);
    caller.with(throttler.admit(REVISION, caller));
    loop.advance(Duration.ofMillis(1));

    assertThat(probes).isEqualTo(1);
  }
}
