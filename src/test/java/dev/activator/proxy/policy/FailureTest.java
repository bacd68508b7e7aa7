package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FailureTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");

  private static String shown(Failure failure) {
    return failure.answer().status() + " " + failure.answer().body();
  }

  @Test
  void sayWhatKnativeSays() {
    assertThat(shown(new Failure.UnknownRevision("fooname"))).isEqualTo(
        "404 Error getting active endpoint: revision.serving.knative.dev \"fooname\" not found\n");
    assertThat(shown(new Failure.LookupFailed())).startsWith("500 Error getting active endpoint: ");
    assertThat(shown(new Failure.QueueFull(1))).isEqualTo("503 pending request queue full\n");
    assertThat(shown(new Failure.BadGateway("request error"))).isEqualTo("502 request error\n");
    assertThat(shown(new Failure.TimedOut(TimeoutKind.OVERALL, "")))
        .isEqualTo("504 activator request timeout");
    assertThat(shown(new Failure.TimedOut(TimeoutKind.OVERALL, "no pod is listed")))
        .isEqualTo("504 activator request timeout: no pod is listed");
    assertThat(shown(new Failure.Internal())).isEqualTo("500 ");
  }

  @Test
  void sayWhatKnativeDoesNotSay() {
    assertThat(shown(new Failure.RevisionGone(HELLO)))
        .isEqualTo("404 Error getting active endpoint: "
            + "revision.serving.knative.dev \"hello-00001\" not found\n");
    assertThat(shown(new Failure.Unreachable())).isEqualTo("502 no pod accepts connections\n");
    assertThat(shown(new Failure.CannotStart(HELLO, "ExitCode1", "it exits with 1")))
        .isEqualTo(
            "503 revision default/hello-00001 cannot start: it exits with 1\n");
    assertThat(shown(new Failure.CannotStart(HELLO, "ExitCode1", "")))
        .isEqualTo(
            "503 revision default/hello-00001 cannot start: ExitCode1\n");
  }

  @Test
  void ofRequestsThatCannotBeReadEndTheConnection() {
    assertThat(List.of(new Failure.BadRequest("x"), new Failure.HeadTooLarge(),
        new Failure.UnknownVersion(), new Failure.UnknownCoding(),
        new Failure.UnknownExpectation())).allMatch(Failure::endsConnection);
    assertThat(
        List.of(new Failure.UnknownRevision("x"),
            new Failure.UnknownHost("h", UnknownHostHint.NONE),
            new Failure.NoRule("h", "/"),
            new Failure.LookupFailed(),
            new Failure.QueueFull(1), new Failure.MemoryFull(1), new Failure.DeadlineTooNear(1),
            new Failure.RevisionGone(HELLO), new Failure.CannotStart(HELLO, "x", ""),
            new Failure.TimedOut(TimeoutKind.OVERALL, ""), new Failure.BadGateway("x"),
            new Failure.Unreachable(), new Failure.ShuttingDown(HELLO), new Failure.Internal()))
        .noneMatch(Failure::endsConnection);
  }

  @Test
  void arePlainTextWithNosniff() {
    assertThat(new Failure.BadGateway("x").answer().headers()).isEqualTo(Map.of("Content-Type",
        "text/plain; charset=utf-8", "X-Content-Type-Options", "nosniff"));
    assertThat(new Failure.QueueFull(1).answer().headers()).containsEntry("Retry-After", "1");
  }

  @Test
  void ofAdmissionSayTheReasonInAWord() {
    assertThat(reason(new Failure.QueueFull(1))).isEqualTo("queue-full");
    assertThat(reason(new Failure.MemoryFull(1))).isEqualTo("memory-full");
    assertThat(reason(new Failure.DeadlineTooNear(1))).isEqualTo("deadline-too-near");
    assertThat(reason(new Failure.RevisionGone(HELLO))).isEqualTo("revision-gone");
    assertThat(reason(new Failure.CannotStart(HELLO, "x", ""))).isEqualTo("cannot-start");
    assertThat(reason(new Failure.Unreachable())).isEqualTo("unreachable");
    assertThat(reason(new Failure.ShuttingDown(HELLO))).isEqualTo("shutting-down");
    assertThat(reason(new Failure.TimedOut(TimeoutKind.QUEUE, ""))).isEqualTo("queue-timeout");
  }

  private static String reason(Failure failure) {
    return failure.answer().headers().get("K-Activator-Reason");
  }

  @Test
  void ofAdmissionSayWhenToComeAgain() {
    for (var failure : new Failure[]{new Failure.QueueFull(7), new Failure.MemoryFull(7),
        new Failure.DeadlineTooNear(7)}) {
      assertThat(failure.answer().status()).isEqualTo(503);
      assertThat(failure.answer().headers()).containsEntry("Retry-After", "7");
      assertThat(failure.endsConnection()).isFalse();
    }
  }
}
