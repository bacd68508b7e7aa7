package dev.activator.backend.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeForm.WhoAnswers;
import dev.activator.backend.policy.ProbeOutcome.Verdict;
import dev.activator.revision.Protocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProbeFormTest {
  private static ProbeForm annotated(String path) {
    return ProbeForm.of(new Revision(new RevisionId("ns", "rev"), "1", Protocol.HTTP1, 0,
        RequestTimeouts.DEFAULT, true, Map.of(),
        Map.of("activator.dev/readiness-path", path), null));
  }

  @Test
  void asksTheQueueProxyUnlessToldOtherwise() {
    assertThat(ProbeForm.of(Revision.of(new RevisionId("ns", "rev"), 0)))
        .isEqualTo(new ProbeForm("/healthz", WhoAnswers.QUEUE_PROXY));
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"/", "/ready?deep=1", "/a%20b"})
  void asksTheContainerForThePathOfTheAnnotation(String path) {
    assertThat(annotated(path)).isEqualTo(new ProbeForm(path, WhoAnswers.CONTAINER));
  }

  @ParameterizedTest(name = "\"{0}\"")
  @ValueSource(strings = {"", "ready", "/a b", "/a\r\nHost: x", "/ä", "/a#b", "http://x/"})
  void asksTheQueueProxyWhereTheAnnotationIsNoPath(String text) {
    assertThat(annotated(text).whoAnswers()).isEqualTo(WhoAnswers.QUEUE_PROXY);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"200, HEALTHY", "204, HEALTHY", "302, HEALTHY", "399, HEALTHY", "400, UNHEALTHY",
      "404, UNHEALTHY", "500, UNHEALTHY", "502, MESH_LIKE", "503, MESH_LIKE", "101, UNHEALTHY"})
  void takesTheContainersStatusAsKubernetesDoes(int status, Verdict verdict) {
    assertThat(annotated("/").judge(status, "hello").verdict()).isEqualTo(verdict);
  }
}
