package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.RevisionId;
import dev.activator.wire.Stat;
import dev.activator.wire.WireStatMessages;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.jspecify.annotations.Nullable;

class StatFrameTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");

  private static String encoded(RevisionStat... stats) {
    return encoded(null, stats);
  }

  private static String encoded(@Nullable Duration uptime, RevisionStat... stats) {
    return HexFormat.ofDelimiter(" ")
        .formatHex(AutoscalerLink.encode("activator-1", List.of(stats), uptime));
  }

  @Test
  void theUptimeHasItsOwnEntry() {
    assertThat(encoded(Duration.ofMillis(12_500)))
        .isEqualTo("0a 18 1a 16 0a 0b 61 63 74 69 76 61 74 6f 72 2d 31 31 00 00 00 00 00 00 29 40");
  }

  @Test
  @DisplayName("a first request takes 44 bytes")
  void aFirstRequestTakes44Bytes() {
    assertThat(encoded(RevisionStat.first(REVISION)))
        .isEqualTo("0a 2a 0a 02 6e 73 12 03 72 65 76 1a 1f 0a 0b 61 63 74 69 76 61 74 6f 72 2d 31 "
            + "11 00 00 00 00 00 00 f0 3f 21 00 00 00 00 00 00 f0 3f");
  }

  @Test
  void timesInTheQueueAreInAFieldThatKnativeSkips_andOnlyForOurOwnAutoscaler() throws Exception {
    var stat = new RevisionStat(REVISION, 1, 2, new QueueTimeHistogram(List.of(0, 3, 300)));

    var ours = WireStatMessages.parseFrom(
        AutoscalerLink.encode("activator-1", List.of(stat), Duration.ofSeconds(1)));
    assertThat(ours.getMessages(1).getStat().getQueueTimesList()).containsExactly(0, 3, 300);
    assertThat(encoded(stat)).isEqualTo(encoded(new RevisionStat(REVISION, 1, 2)));
    // Knative's last field is 7.
    assertThat(Stat.QUEUE_TIMES_FIELD_NUMBER).isGreaterThan(Stat.TIMESTAMP_FIELD_NUMBER);
  }

  @Test
  void anAcknowledgementHasNoLoad() throws Exception {
    var frame = WireStatMessages.parseFrom(AutoscalerLink.encode("activator-1",
        List.of(RevisionStat.acknowledgement(REVISION, 7)), null));

    assertThat(frame.getMessages(0).getStat()).isEqualTo(
        Stat.newBuilder().setPodName("activator-1").setAcknowledged(7).build());
  }

  @Test
  @DisplayName("zeroes are not sent")
  void zeroesAreNotSent() {
    assertThat(encoded(new RevisionStat(REVISION, 0, 0)))
        .isEqualTo("0a 18 0a 02 6e 73 12 03 72 65 76 1a 0d 0a 0b 61 63 74 69 76 61 74 6f 72 2d 31");
  }

  @Test
  @DisplayName("one frame holds many revisions")
  void oneFrameHoldsManyRevisions() {
    var first = encoded(RevisionStat.first(REVISION));
    var idle = encoded(new RevisionStat(REVISION, 0, 0));

    assertThat(encoded(RevisionStat.first(REVISION), new RevisionStat(REVISION, 0, 0)))
        .isEqualTo(first + " " + idle);
  }
}
