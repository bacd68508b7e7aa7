package dev.activator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.policy.KubernetesVersion;
import java.net.URI;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConnectionTest {
  private final FakeApi api = new FakeApi();

  @AfterEach
  void close() {
    api.close();
  }

  private static @Nullable String problemAt(URI url) {
    try (var threads = new TaskThreads(reason -> {
    });
        var client = Connection.open(new ClusterAccess.At(url), new Random(1), threads)) {
      return Connection.problem(client, KubernetesVersion.MINIMUM);
    }
  }

  @Test
  void hasNoProblemWithANewEnoughApi() {
    api.hasVersion("v1.34.0-alpha.1");

    assertThat(problemAt(api.url())).isNull();
  }

  @Test
  void refusesAnApiThatIsTooOld() {
    api.hasVersion("v1.33.4");

    assertThat(problemAt(api.url())).isEqualTo("the Kubernetes API at " + api.url()
        + "/ is v1.33.4, but must be at least v1.34.0");
  }

  @Test
  void saysThatWeAreUnknown() {
    api.refuses("/version", 401);

    assertThat(problemAt(api.url())).isEqualTo("the Kubernetes API at " + api.url()
        + "/ does not know who we are (401, on get /version)");
  }

  @Test
  void saysWhereNobodyAnswers() {
    assertThat(problemAt(URI.create("http://127.0.0.1:1"))).isEqualTo(
        "cannot reach the Kubernetes API at http://127.0.0.1:1/: connection refused");
  }

  @Test
  void doesNotTakeSomethingElseForAnApi() {
    api.hasVersion("2.4.1 (Unix)");

    assertThat(problemAt(api.url())).isEqualTo("what answers at " + api.url()
        + "/ is no Kubernetes API: not a version of Kubernetes: '2.4.1 (Unix)'");
  }
}
