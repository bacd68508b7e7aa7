package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RevisionCardDataTest {
  @ParameterizedTest
  @CsvSource(nullValues = "-", value = {"BUSY, 1, 1, It may have one pod only. ",
      "BUSY, 3, 3, It has all 3 pods that it may have. ", "BUSY, 2, 3, ''", "BUSY, 2, -, ''",
      "QUEUE_FULL, 3, 2, It has all 2 pods that it may have. ", "SERVING, 3, 3, ''"})
  void saysWhereRequestsWaitThoughThereMayBeNoMorePods(WaitState state, int ready,
      Integer max, String sentence) {
    assertThat(RevisionCardData.mostPods(state, ready, max).strip())
        .isEqualTo(sentence.strip());
  }

  @ParameterizedTest
  @CsvSource({"0, 0 bytes", "1, 1 byte", "1023, 1023 bytes", "1024, 1 KiB", "62524, 61 KiB",
      "3145728, 3 MiB"})
  void sizesAreForPeople(long bytes, String text) {
    assertThat(Html.size(bytes)).isEqualTo(text);
  }
}
