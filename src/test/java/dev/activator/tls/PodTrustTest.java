package dev.activator.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PodTrustTest {
  private final PodTrust trust = PodTrust.of(List.of());

  @Test
  void keepsAContextForEachNamespace() {
    var ours = trust.of("ours");

    assertThat(trust.of("ours")).isSameAs(ours);
    assertThat(trust.of("theirs")).isNotSameAs(ours);
  }

  @Test
  void forgetsTheOneThatWasUsedLongestAgoWhereThereAreTooMany() {
    // given as many as are kept, of which the first was used again
    var first = trust.of("ns-0");
    var second = trust.of("ns-1");
    for (int i = 2; i < PodTrust.MAX_NAMESPACES; i++) {
      trust.of("ns-" + i);
    }
    trust.of("ns-0");

    // when there is one more
    var last = trust.of("one more");

    // then the second is made anew, and the others stay
    assertThat(trust.of("ns-0")).isSameAs(first);
    assertThat(trust.of("one more")).isSameAs(last);
    assertThat(trust.of("ns-1")).isNotSameAs(second);
  }
}
