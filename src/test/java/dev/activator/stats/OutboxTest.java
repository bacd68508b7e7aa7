package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private static final RevisionId A = new RevisionId("ns", "a");
  private static final RevisionId B = new RevisionId("ns", "b");

  private final Outbox outbox = new Outbox();

  private static RevisionStat stat(RevisionId revision, double average) {
    return new RevisionStat(revision, average, 0);
  }

  @Test
  void keepsTheLatestReportOfEachRevision() {
    outbox.report(List.of(stat(A, 1), stat(B, 1)));
    outbox.report(List.of(stat(A, 2)));

    assertThat(outbox.take()).containsExactly(stat(B, 1), stat(A, 2));
    assertThat(outbox.isEmpty()).isTrue();
  }

  @Test
  void keepsEachFirstRequestOnceAndPutsItInFront() {
    outbox.report(List.of(stat(B, 1)));
    outbox.first(A);
    outbox.first(A);

    assertThat(outbox.take()).containsExactly(RevisionStat.first(A), stat(B, 1));
  }

  @Test
  void aFirstRequestReplacesAnOlderReport() {
    outbox.report(List.of(stat(A, 0)));
    outbox.first(A);

    assertThat(outbox.take()).containsExactly(RevisionStat.first(A));
  }

  @Test
  void reportsAreBoundedAndFirstRequestsAreNot() {
    for (int i = 0; i < 10_001; i++) {
      outbox.first(new RevisionId("first", "r" + i));
    }
    outbox.report(
        IntStream.range(0, 10_001).mapToObj(i -> stat(new RevisionId("ns", "r" + i), 1)).toList());

    var all = outbox.take();
    assertThat(all).hasSize(20_001).doesNotContain(stat(new RevisionId("ns", "r0"), 1));
  }

  @Test
  void whatNoPongConfirmedIsSentAgain() {
    outbox.first(A);
    outbox.take();
    outbox.lost();

    assertThat(outbox.take()).containsExactly(RevisionStat.first(A));
  }

  @Test
  void whatAPongConfirmedIsNotSentAgain() {
    outbox.first(A);
    outbox.take();
    outbox.pinged();
    outbox.first(B);
    outbox.take();
    outbox.ponged();
    outbox.lost();

    // B was sent after the ping
    assertThat(outbox.take()).containsExactly(RevisionStat.first(B));
  }

  @Test
  void aPongToAnEarlierPingConfirmsNothing() {
    outbox.pinged();
    outbox.first(A);
    outbox.take();
    outbox.pinged();
    outbox.ponged();
    outbox.lost();

    assertThat(outbox.take()).containsExactly(RevisionStat.first(A));
  }

  @Test
  void aLaterPingDoesNotPutOffWhatAnEarlierOneConfirms() {
    outbox.first(A);
    outbox.take();
    outbox.pinged();
    outbox.first(B);
    outbox.take();
    outbox.pinged();
    outbox.ponged();
    outbox.lost();

    assertThat(outbox.take()).containsExactly(RevisionStat.first(B));
  }
}
