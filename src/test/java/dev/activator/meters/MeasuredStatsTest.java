package dev.activator.meters;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.VirtualLoop;
import dev.activator.testing.TestRevisions;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestMeters;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.testing.Scrape;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MeasuredStatsTest {
  private static final RevisionId HELLO = new RevisionId("ns", "hello");

  private final Meters meters = new Meters();
  private final TestRevisions revisions = new TestRevisions(new VirtualLoop(),
      Revision.of(HELLO, 0));
  private final RequestMeters requests = new RequestMeters(meters, revisions.live);
  private final List<Object> received = new ArrayList<>();
  private final StatSink stats = ActivatorMeters.stats(new StatSink() {
    @Override
    public void atOnce(List<RevisionStat> all) {
      received.add(all);
    }

    @Override
    public void report(List<RevisionStat> all) {
      received.add(all);
    }
  }, requests);

  @Test
  @DisplayName("the concurrency gauge shows what was reported last")
  void passesOnWhatIsReportedAndShowsIt() {
    var first = List.of(RevisionStat.first(HELLO));
    var some = List.of(new RevisionStat(HELLO, 1.5, 3));
    var later = List.of(new RevisionStat(HELLO, 0.25, 1));

    stats.atOnce(first);
    // what is told at once is no average
    assertThat(Scrape.of(meters, "kn_revision_request_concurrency")).isEmpty();
    stats.report(some);
    stats.report(later);

    assertThat(received).containsExactly(first, some, later);
    assertThat(Scrape.of(meters, "kn_revision_request_concurrency")).singleElement().asString()
        .contains("kn_revision_name=\"hello\"").endsWith(" 0.25");
  }

  @Test
  void showsNothingOfARevisionThatIsGone() {
    stats.report(List.of(new RevisionStat(HELLO, 1, 1)));
    revisions.remove(HELLO);
    stats.report(List.of(new RevisionStat(new RevisionId("ns", "other"), 1, 1)));

    assertThat(Scrape.of(meters, "kn_revision_request_concurrency")).isEmpty();
  }
}
