package dev.activator.kube.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import org.junit.jupiter.api.Test;

class InternerTest {
  private final Interner<RevisionId> ids = new Interner<>(4);

  @Test
  void keepsOneOfEqualValues() {
    var first = new RevisionId("ns", "a");

    assertThat(ids.of(first)).isSameAs(first);
    assertThat(ids.of(new RevisionId("ns", "a"))).isSameAs(first);
  }

  @Test
  void aValueThatWasEvictedIsReplacedByAnEqualOne() {
    var first = ids.of(new RevisionId("ns", "a"));
    for (int i = 0; i < 100; i++) {
      ids.of(new RevisionId("ns", "b" + i));
    }

    assertThat(ids.of(new RevisionId("ns", "a"))).isEqualTo(first).isNotSameAs(first);
  }
}
