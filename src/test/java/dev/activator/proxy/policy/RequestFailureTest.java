package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RequestFailureTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");

  private static String shown(RequestFailure failure) {
    return failure.answer().status() + " " + failure.answer().body();
  }

  @Test
  void sayWhatKnativeSays() {
    assertThat(shown(RequestFailure.unknownRevision("fooname"))).isEqualTo(
        "404 Error getting active endpoint: revision.serving.knative.dev \"fooname\" not found\n");
    assertThat(shown(RequestFailure.lookupFailed()))
        .startsWith("500 Error getting active endpoint: ");
    assertThat(shown(RequestFailure.queueFull(1)))
        .isEqualTo("503 pending request queue full\n");
    assertThat(shown(RequestFailure.badGateway("request error")))
        .isEqualTo("502 request error\n");
    assertThat(shown(RequestFailure.timedOut(RequestOutcome.REQUEST_TIMEOUT, "")))
        .isEqualTo("504 activator request timeout");
    assertThat(shown(RequestFailure.timedOut(RequestOutcome.REQUEST_TIMEOUT, "no pod is listed")))
        .isEqualTo("504 activator request timeout: no pod is listed");
    assertThat(shown(RequestFailure.internal())).isEqualTo("500 ");
  }

  @Test
  void sayWhatKnativeDoesNotSay() {
    assertThat(shown(RequestFailure.revisionGone(HELLO)))
        .isEqualTo("404 Error getting active endpoint: "
            + "revision.serving.knative.dev \"hello-00001\" not found\n");
    assertThat(shown(RequestFailure.podGone()))
        .isEqualTo("404 the pod of this session is gone\n");
    assertThat(shown(RequestFailure.unreachable()))
        .isEqualTo("502 no pod accepts connections\n");
    assertThat(shown(RequestFailure.cannotStart(HELLO, "ExitCode1", "it exits with 1")))
        .isEqualTo(
            "503 revision default/hello-00001 cannot start: it exits with 1\n");
    assertThat(shown(RequestFailure.cannotStart(HELLO, "ExitCode1", "")))
        .isEqualTo(
            "503 revision default/hello-00001 cannot start: ExitCode1\n");
  }

  @Test
  void ofRequestsThatCannotBeReadEndTheConnection() {
    assertThat(List.of(RequestFailure.badRequest("x"), RequestFailure.headTooLarge(),
        RequestFailure.unknownVersion(), RequestFailure.unknownCoding(),
        RequestFailure.unknownExpectation())).allMatch(RequestFailure::endsConnection);
    assertThat(
        List.of(RequestFailure.unknownRevision("x"),
            RequestFailure.unknownHost("h", ""),
            RequestFailure.noRule("h", "/"),
            RequestFailure.lookupFailed(),
            RequestFailure.queueFull(1), RequestFailure.memoryFull(1),
            RequestFailure.deadlineTooNear(1),
            RequestFailure.revisionGone(HELLO), RequestFailure.cannotStart(HELLO, "x", ""),
            RequestFailure.timedOut(RequestOutcome.REQUEST_TIMEOUT, ""),
            RequestFailure.badGateway("x"),
            RequestFailure.podGone(), RequestFailure.unreachable(),
            RequestFailure.shuttingDown(HELLO),
            RequestFailure.internal()))
        .noneMatch(RequestFailure::endsConnection);
  }

  @Test
  void arePlainTextWithNosniff() {
    assertThat(RequestFailure.badGateway("x").answer().headers())
        .isEqualTo(Map.of("Content-Type",
            "text/plain; charset=utf-8", "X-Content-Type-Options", "nosniff"));
    assertThat(RequestFailure.queueFull(1).answer().headers()).containsEntry("Retry-After",
        "1");
  }

  @Test
  void ofAdmissionSayTheReasonInAWord() {
    assertThat(reason(RequestFailure.queueFull(1))).isEqualTo("queue-full");
    assertThat(reason(RequestFailure.memoryFull(1))).isEqualTo("memory-full");
    assertThat(reason(RequestFailure.deadlineTooNear(1))).isEqualTo("deadline-too-near");
    assertThat(reason(RequestFailure.revisionGone(HELLO))).isEqualTo("revision-gone");
    assertThat(reason(RequestFailure.cannotStart(HELLO, "x", ""))).isEqualTo("cannot-start");
    assertThat(reason(RequestFailure.podGone())).isEqualTo("pod-gone");
    assertThat(reason(RequestFailure.unreachable())).isEqualTo("unreachable");
    assertThat(reason(RequestFailure.shuttingDown(HELLO))).isEqualTo("shutting-down");
    assertThat(reason(RequestFailure.timedOut(RequestOutcome.QUEUE_TIMEOUT, "")))
        .isEqualTo("queue-timeout");
  }

  private static String reason(RequestFailure failure) {
    return failure.answer().headers().get("K-Activator-Reason");
  }

  @Test
  void ofAdmissionSayWhenToComeAgain() {
    for (var failure : new RequestFailure[]{RequestFailure.queueFull(7),
        RequestFailure.memoryFull(7),
        RequestFailure.deadlineTooNear(7)}) {
      assertThat(failure.answer().status()).isEqualTo(503);
      assertThat(failure.answer().headers()).containsEntry("Retry-After", "7");
      assertThat(failure.endsConnection()).isFalse();
    }
  }
}
