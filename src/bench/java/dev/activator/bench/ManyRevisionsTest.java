package dev.activator.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import java.time.Clock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ManyRevisionsTest {
  private final ApiStore store = new ApiStore(Clock.systemUTC());

  @ParameterizedTest
  @EnumSource
  void theApiAcceptsWhatIsMade(PodSource source) {
    new ManyRevisions(store, source, 8080, source == PodSource.ENDPOINTS ? 2 : 0).create(3);

    assertThat(store.list(BuiltInKinds.REVISION)).hasSize(3);
  }
}
