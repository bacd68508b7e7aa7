package dev.activator.ext.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.RevisionBackendsView;
import dev.activator.backend.RevisionBackendsView.Address;
import dev.activator.backend.RevisionBackendsView.Probe;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.ReadinessProbeSpec.ExpectedAnswer;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FailedPortProbesTest {
  private static final RevisionId DB = new RevisionId("shop", "db");
  private static final Address FAILS = pod(1, true, false, 3);
  private static final Address STARTS = pod(2, false, false, 3);
  private static final Address SERVES = pod(3, true, true, 0);

  private final VirtualLoop loop = new VirtualLoop();
  private final LiveRevisions revisions = new LiveRevisions(_ -> loop);
  private final List<String> reports = new ArrayList<>();
  private List<Address> pods = List.of();

  private static Address pod(int number, boolean ready, boolean serves, int failures) {
    return new Address(new Destination("10.0.0." + number, 5432), ready, serves, serves, false,
        failures, new Probe("answered 'E'", null, null, false));
  }

  @BeforeEach
  void start() {
    probed(ReadinessProbeSpec.answering(new ExpectedAnswer("", "R")));
    new FailedPortProbes(loop, revisions, id -> id.equals(DB)
        ? new RevisionBackendsView(HealthyDestinations.pods(id, DestinationSet.NONE), pods, null,
            MeshAddressing.DEFAULT, true)
        : null, (id, why) -> reports.add(id + ": " + why)).start();
  }

  private void probed(ReadinessProbeSpec by) {
    revisions.update(new Revision(DB, "u", PortProtocol.TCP, 0, RequestTimeouts.DEFAULT, true, by,
        Map.of(), Map.of(), null));
  }

  private void checks(int times, Address... now) {
    pods = List.of(now);
    for (int i = 0; i < times; i++) {
      loop.advance(FailedPortProbes.PERIOD);
    }
  }

  @Test
  void reportsReadyPodsThatFail_atTheSecondCheck_untilOneServes() {
    checks(1, FAILS, STARTS);
    assertThat(reports).isEmpty();

    checks(2, FAILS, STARTS);
    assertThat(reports).containsExactly("shop/db: 10.0.0.1:5432 answered 'E'",
        "shop/db: 10.0.0.1:5432 answered 'E'");

    checks(2, FAILS, SERVES);
    assertThat(reports).hasSize(3).endsWith("shop/db: ");
  }

  @Test
  void reportsTheEndOfAFailure_withTheRevision() {
    checks(2, FAILS);
    revisions.end(DB);
    loop.run();

    assertThat(reports).endsWith("shop/db: ");
  }

  @Test
  void reportsNoPodThatIsNotReady_andNoneAtZero() {
    checks(3, STARTS);
    checks(3);

    assertThat(reports).isEmpty();
  }

  @Test
  void reportsNoFailure_onceThePortHasNoProbe() {
    checks(1, FAILS);
    probed(ReadinessProbeSpec.CONNECT);
    checks(3, FAILS);

    assertThat(reports).containsExactly("shop/db: ");
  }
}
