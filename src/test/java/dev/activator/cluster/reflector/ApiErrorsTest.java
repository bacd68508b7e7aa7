package dev.activator.cluster.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParseException;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ApiErrorsTest {
  private final ApiErrors complaints = new ApiErrors("http://x");

  private String about(Throwable cause) {
    return complaints.about("list", "endpoints", new KubernetesClientException("failed", cause));
  }

  @Test
  void cannotReachAnApiThatDoesNotAnswer() {
    assertThat(about(new IOException("reset")))
        .isEqualTo("cannot reach the Kubernetes API at http://x: reset");
    assertThat(about(new TimeoutException("late")))
        .isEqualTo("cannot reach the Kubernetes API at http://x: late");
  }

  @Test
  void asksForKnativeOnlyWhereItsOwnKindIsMissing() {
    var missing = new KubernetesClientException("no", 404, null);

    assertThat(complaints.about("list", "revisions", missing)).isEqualTo(
        "the Kubernetes API at http://x has no revisions (404); is Knative Serving installed?");
    assertThat(complaints.about("list", "endpointslices", missing))
        .isEqualTo("the Kubernetes API at http://x has no endpointslices (404)");
  }

  @Test
  void cannotMakeSenseOfAnAnswerThatIsOdd() {
    var senseless = "cannot make sense of what the Kubernetes API at http://x answers to"
        + " list endpoints: odd";

    assertThat(about(new IllegalStateException("odd"))).isEqualTo(senseless);
    assertThat(about(new JsonParseException(null, "odd"))).isEqualTo(senseless);
  }
}
