package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests that a pod says it has not looked at (RFC 9113, section 8.7): any may be sent again. */
class RefusedStreamsTest extends WireTest {
  private static final int REFUSED_STREAM = 7;

  private final AtomicInteger asked = new AtomicInteger();

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  /** How a pod says so. */
  enum Refusal {
    REFUSED {
      @Override
      void of(RawHttp2 pod, int stream) throws IOException {
        pod.reset(stream, REFUSED_STREAM);
      }
    },
    GOES_AWAY {
      @Override
      void of(RawHttp2 pod, int stream) throws IOException {
        pod.goAway(stream - 2, 0);
      }
    },
    GOES_AWAY_IN_TWO_STEPS {
      @Override
      void of(RawHttp2 pod, int stream) throws IOException {
        pod.goAway(Integer.MAX_VALUE, 0);
        pod.goAway(stream - 2, 0);
      }
    },
    GOES_AWAY_IN_ANGER {
      @Override
      void of(RawHttp2 pod, int stream) throws IOException {
        pod.goAway(0, 11);
      }
    };

    abstract void of(RawHttp2 pod, int stream) throws IOException;
  }

  /** A pod that refuses its first requests once it has read them. */
  private ScriptedPod refusing(Refusal refusal, int times) throws IOException {
    return idlePod(caller -> {
      var pod = RawHttp2.pod(caller);
      var body = new StringBuilder();
      while (true) {
        var frame = pod.read();
        body.append(frame.type() == RawHttp2.DATA ? frame.text() : "");
        if (frame.ends() && asked.getAndIncrement() < times) {
          body.setLength(0);
          refusal.of(pod, frame.stream());
        } else if (frame.ends()) {
          pod.headers(frame.stream(), false, ":status", "200");
          pod.data(frame.stream(), true, body.toString());
        }
      }
    });
  }

  private String answer(String body) throws IOException {
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, ":method", "POST", ":scheme", "http", ":path", "/", ":authority",
          "hello.example", "knative-serving-namespace", "default", "knative-serving-revision",
          "hello-00001");
      caller.data(1, true, body);
      return caller.response(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void areSentAgainWhateverTheirMethod(Refusal refusal) throws Exception {
    activator.throttle.grow(refusing(refusal, 3).destination(), 100);
    assertThat(answer("hello")).isEqualTo("200 hello");
    assertThat(asked).hasValue(4);
    assertThat(activator.throttle.retried()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void goToAnotherPodWhereOneRefusesForEver(Refusal refusal) throws Exception {
    var other = idlePod(caller -> {
      var pod = RawHttp2.pod(caller);
      pod.read(RawHttp2.HEADERS);
      var body = pod.body(3);
      pod.headers(3, false, ":status", "200");
      pod.data(3, true, "other " + body);
      caller.awaitEnd();
    });
    activator.throttle.grow(refusing(refusal, Integer.MAX_VALUE).destination(), 1);
    activator.throttle.retriesGoTo(other.destination());

    assertThat(answer("hello")).isEqualTo("200 other hello");
    assertThat(asked).hasValue(4);
    assertThat(activator.throttle.retried()).isOne();
  }

  @Test
  void fail_whenTheRetryBudgetIsSpent() throws Exception {
    activator.throttle.grow(refusing(Refusal.REFUSED, Integer.MAX_VALUE).destination(), 1);
    activator.throttle.allowNoRetries();

    assertThat(answer("hello")).isEqualTo("502 the pod did not process the request\n");
  }

  @Test
  void fail_whenFiveMorePodsRefuse() throws Exception {
    activator.throttle.grow(refusing(Refusal.REFUSED, Integer.MAX_VALUE).destination(), 1);

    assertThat(answer("hello")).isEqualTo("502 the pod did not process the request\n");
    assertThat(activator.throttle.retried()).isEqualTo(5);
  }
}
