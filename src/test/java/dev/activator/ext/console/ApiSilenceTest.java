package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ApiSilenceTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<CompletableFuture<Object>> reads = new ArrayList<>();
  private long eventNanos = loop.nanoTime();
  private final ApiSilence silence = new ApiSilence(loop, () -> {
    var answer = new CompletableFuture<>();
    reads.add(answer);
    return answer;
  }, () -> Duration.ofNanos(loop.nanoTime() - eventNanos));

  private void requestsWait(int seconds) {
    for (int i = 0; i < seconds; i++) {
      silence.requestsWait();
      loop.advance(Duration.ofSeconds(1));
    }
  }

  @Test
  void readsNothing_whileNoRequestWaits_orOneHasJustBegun() {
    loop.advance(Duration.ofHours(1));
    requestsWait(2);
    assertThat(reads).isEmpty();

    // then another one, much later
    loop.advance(Duration.ofHours(1));
    requestsWait(2);
    assertThat(reads).isEmpty();
  }

  @Test
  void readsNothing_whileEventsCome() {
    for (int i = 0; i < 10; i++) {
      requestsWait(1);
      eventNanos = loop.nanoTime();
    }
    assertThat(reads).isEmpty();
  }

  @Test
  void readsEveryTwoSeconds_oneAtATime() {
    requestsWait(10);
    assertThat(reads).hasSize(1);

    reads.getFirst().complete("");
    requestsWait(2);
    assertThat(reads).hasSize(1);
    requestsWait(1);
    assertThat(reads).hasSize(2);
    assertThat(silence.now()).isNull();
  }

  @Test
  void isKnownOnceAReadIsNotAnswered_untilOneIs() {
    requestsWait(3);
    long sentNanos = loop.nanoTime() - Duration.ofSeconds(1).toNanos();
    assertThat(silence.now()).isNull();
    reads.getFirst().completeExceptionally(new TimeoutException());
    assertThat(silence.now())
        .isEqualTo(new ApiSilence.Silence(sentNanos, "it does not answer within 2 s"));

    requestsWait(3);
    reads.getLast().completeExceptionally(new IOException("no route"));
    assertThat(silence.now())
        .isEqualTo(new ApiSilence.Silence(sentNanos, "it does not answer within 2 s"));

    requestsWait(3);
    reads.getLast().complete("");
    assertThat(silence.now()).isNull();
  }

  @Test
  void anEventEndsIt() {
    requestsWait(3);
    reads.getFirst().completeExceptionally(new IOException("no route"));
    assertThat(silence.now()).extracting(ApiSilence.Silence::problem).isEqualTo("no route");

    loop.advance(Duration.ofSeconds(1));
    eventNanos = loop.nanoTime();
    assertThat(silence.now()).isNull();
  }

  @Test
  void isForgottenWhenNoRequestWaitsAnyMore() {
    requestsWait(3);
    reads.getFirst().completeExceptionally(new TimeoutException());

    loop.advance(Duration.ofSeconds(5));
    assertThat(silence.now()).isNull();
  }

  @Test
  void doesNotCountForRequestsThatWaitLater_beforeAReadOfTheirOwn() {
    requestsWait(3);
    reads.getFirst().completeExceptionally(new TimeoutException());

    loop.advance(Duration.ofHours(1));
    silence.requestsWait();
    assertThat(silence.now()).isNull();
  }
}
