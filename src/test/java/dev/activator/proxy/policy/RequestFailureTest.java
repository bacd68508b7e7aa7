package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

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
    assertThat(shown(new RequestFailure.UnknownRevision("fooname"))).isEqualTo(
        "404 Error getting active endpoint: revision.serving.knative.dev \"fooname\" not found\n");
    assertThat(shown(new RequestFailure.LookupFailed()))
        .startsWith("500 Error getting active endpoint: ");
    assertThat(shown(new RequestFailure.QueueFull(1)))
        .isEqualTo("503 pending request queue full\n");
    assertThat(shown(new RequestFailure.BadGateway("request error")))
        .isEqualTo("502 request error\n");
    assertThat(shown(new RequestFailure.TimedOut(TimeoutKind.OVERALL, "")))
        .isEqualTo("504 activator request timeout");
    assertThat(shown(new RequestFailure.TimedOut(TimeoutKind.OVERALL, "no pod is listed")))
        .isEqualTo("504 activator request timeout: no pod is listed");
    assertThat(shown(new RequestFailure.Internal())).isEqualTo("500 ");
  }

  @Test
  void sayWhatKnativeDoesNotSay() {
    assertThat(shown(new RequestFailure.RevisionGone(HELLO)))
        .isEqualTo("404 Error getting active endpoint: "
            + "revision.serving.knative.dev \"hello-00001\" not found\n");
    assertThat(shown(new RequestFailure.PodGone()))
        .isEqualTo("404 the pod of this session is gone\n");
    assertThat(shown(new RequestFailure.Unreachable()))
        .isEqualTo("502 no pod accepts connections\n");
    assertThat(shown(new RequestFailure.CannotStart(HELLO, "ExitCode1", "it exits with 1")))
        .isEqualTo(
            "503 revision default/hello-00001 cannot start: it exits with 1\n");
    assertThat(shown(new RequestFailure.CannotStart(HELLO, "ExitCode1", "")))
        .isEqualTo(
            "503 revision default/hello-00001 cannot start: ExitCode1\n");
  }

  @Test
  void ofRequestsThatCannotBeReadEndTheConnection() {
    assertThat(List.of(new RequestFailure.BadRequest("x"), new RequestFailure.HeadTooLarge(),
        new RequestFailure.UnknownVersion(), new RequestFailure.UnknownCoding(),
        new RequestFailure.UnknownExpectation())).allMatch(RequestFailure::endsConnection);
    assertThat(
        List.of(new RequestFailure.UnknownRevision("x"),
            new RequestFailure.UnknownHost("h", UnknownHostHint.NONE),
            new RequestFailure.NoRule("h", "/"),
            new RequestFailure.LookupFailed(),
            new RequestFailure.QueueFull(1), new RequestFailure.MemoryFull(1),
            new RequestFailure.DeadlineTooNear(1),
            new RequestFailure.RevisionGone(HELLO), new RequestFailure.CannotStart(HELLO, "x", ""),
            new RequestFailure.TimedOut(TimeoutKind.OVERALL, ""),
            new RequestFailure.BadGateway("x"),
            new RequestFailure.PodGone(), new RequestFailure.Unreachable(),
            new RequestFailure.ShuttingDown(HELLO),
            new RequestFailure.Internal()))
        .noneMatch(RequestFailure::endsConnection);
  }

  @Test
  void arePlainTextWithNosniff() {
    assertThat(new RequestFailure.BadGateway("x").answer().headers())
        .isEqualTo(Map.of("Content-Type",
            "text/plain; charset=utf-8", "X-Content-Type-Options", "nosniff"));
    assertThat(new RequestFailure.QueueFull(1).answer().headers()).containsEntry("Retry-After",
        "1");
  }

  @Test
  void ofAdmissionSayTheReasonInAWord() {
    assertThat(reason(new RequestFailure.QueueFull(1))).isEqualTo("queue-full");
    assertThat(reason(new RequestFailure.MemoryFull(1))).isEqualTo("memory-full");
    assertThat(reason(new RequestFailure.DeadlineTooNear(1))).isEqualTo("deadline-too-near");
    assertThat(reason(new RequestFailure.RevisionGone(HELLO))).isEqualTo("revision-gone");
    assertThat(reason(new RequestFailure.CannotStart(HELLO, "x", ""))).isEqualTo("cannot-start");
    assertThat(reason(new RequestFailure.PodGone())).isEqualTo("pod-gone");
    assertThat(reason(new RequestFailure.Unreachable())).isEqualTo("unreachable");
    assertThat(reason(new RequestFailure.ShuttingDown(HELLO))).isEqualTo("shutting-down");
    assertThat(reason(new RequestFailure.TimedOut(TimeoutKind.QUEUE, "")))
        .isEqualTo("queue-timeout");
  }

  private static String reason(RequestFailure failure) {
    return failure.answer().headers().get("K-Activator-Reason");
  }

  @Test
  void ofAdmissionSayWhenToComeAgain() {
    for (var failure : new RequestFailure[]{new RequestFailure.QueueFull(7),
        new RequestFailure.MemoryFull(7),
        new RequestFailure.DeadlineTooNear(7)}) {
      assertThat(failure.answer().status()).isEqualTo(503);
      assertThat(failure.answer().headers()).containsEntry("Retry-After", "7");
      assertThat(failure.endsConnection()).isFalse();
    }
  }
}
