package dev.activator.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.PodTransport.PodIdentity;
import io.netty.handler.ssl.SslContext;
import java.util.List;
import org.junit.jupiter.api.Test;

class PodTrustTest {
  private final PodTrust trust = PodTrust.of(List.of());

  private SslContext of(String namespace) {
    return trust.of(new PodIdentity.OfNamespace(namespace));
  }

  @Test
  void keepsAContextForEachNamespace() {
    var ours = of("ours");

    assertThat(of("ours")).isSameAs(ours);
    assertThat(of("theirs")).isNotSameAs(ours);
  }

  @Test
  void forgetsTheOneThatWasUsedLongestAgoWhereThereAreTooMany() {
    // given as many as are kept, of which the first was used again
    var first = of("ns-0");
    var second = of("ns-1");
    for (int i = 2; i < PodTrust.MAX_CONTEXTS; i++) {
      of("ns-" + i);
    }
    of("ns-0");

    // when there is one more
    var last = of("one more");

    // then the second is made anew, and the others stay
    assertThat(of("ns-0")).isSameAs(first);
    assertThat(of("one more")).isSameAs(last);
    assertThat(of("ns-1")).isNotSameAs(second);
  }
}
