package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.cache.FedCache.object;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.After;
import dev.activator.embedded.api.store.StatusException;
import java.time.Duration;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said while there is no state to serve. */
class ReadinessTest {
  private final FedCache fed = new FedCache(Windows.of(10));
  private final FakeOutlet outlet = FakeOutlet.quick();

  /** Each row: seconds without a state; e to the power of 0.06 times that, within 1 and 30. */
  @ParameterizedTest(name = "down for {0} s: again in {1} s")
  @CsvSource({"0, 1", "1, 1", "12, 2", "30, 6", "56, 28", "60, 30", "3600, 30"})
  void raisesRetryAfterTheLongerItIsDown(long seconds, int retryAfter) {
    fed.loop.advance(Duration.ofSeconds(seconds));

    assertThat(refusal()).isEqualTo(retryAfter);
    assertThat(fed.read(new Freshness.Whatever()).received())
        .containsExactly("429 storage is (re)initializing");
  }

  @Test
  @DisplayName("counts from the moment it went down")
  void countsFromTheMomentItWentDown() {
    fed.listed(10);
    fed.loop.advance(Duration.ofHours(1));

    fed.cache.takeDown();
    assertThat(refusal()).isEqualTo(1);
    fed.loop.advance(Duration.ofSeconds(30));
    fed.cache.takeDown();

    assertThat(refusal()).isEqualTo(6);
  }

  @Test
  @DisplayName("ends all watches when it goes down, and serves again after the next listing")
  void servesAgainAfterTheNextListing() {
    fed.listed(10, object(9, "a", "1"));
    fed.watch(new After(10), outlet);

    fed.cache.takeDown();
    assertThat(outlet.ended()).isTrue();
    assertThat(fed.read(new Freshness.Whatever()).received())
        .containsExactly("429 storage is (re)initializing");
    var early = FakeOutlet.quick();
    fed.watch(new After(10), early);
    assertThat(early.received()).containsExactly("429 storage is (re)initializing");

    fed.listed(20, object(19, "a", "2"));
    fed.cache.requireReady();
    assertThat(fed.read(new Freshness.Whatever()).received()).containsExactly("@20 [default/a@19]");
  }

  private int refusal() {
    try {
      fed.cache.requireReady();
    } catch (StatusException refused) {
      assertThat(refused).asInstanceOf(InstanceOfAssertFactories.type(StatusException.class))
          .matches(each -> each.code() == 429);
      return refused.retryAfterSeconds();
    }
    throw new AssertionError("the cache is ready");
  }
}
