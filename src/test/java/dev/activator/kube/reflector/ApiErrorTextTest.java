package dev.activator.kube.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.exc.StreamReadException;

class ApiErrorTextTest {
  private final ApiErrorText errors = new ApiErrorText("http://x");

  private String about(Throwable cause) {
    return errors.about("list", "endpoints", new CompletionException("failed", cause));
  }

  @Test
  void cannotReachAnApiThatDoesNotAnswer() {
    assertThat(about(new IOException("reset")))
        .isEqualTo("cannot reach the Kubernetes API at http://x: reset");
    assertThat(about(JacksonIOException.construct(new IOException("cut"))))
        .isEqualTo("cannot reach the Kubernetes API at http://x: cut");
    assertThat(about(new TimeoutException("late")))
        .isEqualTo("cannot reach the Kubernetes API at http://x: late");
  }

  @Test
  void requestsKnativesKindOnlyWhereItsOwnIsMissing() {
    var missing = new KubernetesApiException(404, Duration.ZERO);

    assertThat(errors.about("list", "revisions.serving.knative.dev -A", missing)).isEqualTo(
        "the Kubernetes API at http://x has no revisions.serving.knative.dev (404); is Knative Serving installed?");
    assertThat(errors.about("list", "endpointslices", missing))
        .isEqualTo("the Kubernetes API at http://x has no endpointslices (404)");
  }

  @Test
  void quotesWhatTheServerSaysAboutARefusal() {
    assertThat(errors.about("get", "/version", new KubernetesApiException(403, Duration.ZERO,
        "this port answers only\n callers that address it as localhost:8001")))
        .isEqualTo("the Kubernetes API at http://x does not allow the activator to get /version"
            + " (403): this port answers only callers that address it as localhost:8001");
    assertThat(errors.about("list", "endpoints",
        new KubernetesApiException(500, Duration.ZERO, "etcd is full")))
        .isEqualTo("the Kubernetes API at http://x answers 500 to list endpoints: etcd is full");
  }

  @Test
  void cannotReadAnAnswerThatIsInvalid() {
    var unreadable = "cannot read what the Kubernetes API at http://x answers to"
        + " list endpoints: odd";

    assertThat(about(new IllegalStateException("odd"))).isEqualTo(unreadable);
    assertThat(about(new StreamReadException(null, "odd"))).isEqualTo(unreadable);
  }
}
