package dev.activator.ext.affinity;

import static dev.activator.ext.affinity.AffinityScene.WEB;
import static dev.activator.ext.affinity.AffinityScene.pod;
import static dev.activator.ext.affinity.AffinityScene.pods;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.affinity.AffinityScene.Asked;
import dev.activator.observability.FakeRequest;
import dev.activator.revision.Destination;
import java.util.HashSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AffinityCookieTest {
  private static final String NAME = "activator-affinity";

  private final AffinityCookie cookies = new AffinityCookie("a secret");
  private final AffinityScene scene = new AffinityScene(1, "cookie", "", "mode", "strict");

  private Asked request(Consumer<FakeRequest> how) {
    var request = FakeRequest.of(scene.affinities, scene.loop, scene.revisions.of(WEB));
    how.accept(request);
    return scene.request(request);
  }

  private Asked with(String value) {
    return request(request -> request.headers.put("Cookie", NAME + "=" + value));
  }

  /** The cookie that the response sets; null if it sets none. */
  private static String set(Asked asked) {
    asked.request.responding(200);
    return asked.request.responseHeaders.get("Set-Cookie");
  }

  private static String valueOf(String header) {
    return header.substring(NAME.length() + 1, header.indexOf(';'));
  }

  @Test
  void isSetForACallerWithoutOne_andBringsItToTheSamePod() {
    scene.has(pods(10));
    var first = request(_ -> {
    });

    var header = set(first);
    assertThat(header).matches(NAME + "=[A-Za-z0-9_-]{54}; Path=/; HttpOnly; SameSite=Lax");
    Destination pod = first.pod();
    first.ends();

    var second = with(valueOf(header));
    assertThat(second.pod()).isEqualTo(pod);
    assertThat(set(second)).isNull();
    second.ends();
    scene.has(pods(20));
    assertThat(with(valueOf(header)).pod()).isEqualTo(pod);
  }

  @Test
  void isSecureForCallersThatUseTls() {
    scene.has(pods(3));

    assertThat(set(request(request -> request.secure = true))).endsWith("; Secure");
    assertThat(set(request(request -> request.headers.put("X-Forwarded-Proto", "https"))))
        .endsWith("; Secure");
  }

  @Test
  void aNewCallerDoesNotWaitForOnePod() {
    scene.has(pods(5));

    var used = new HashSet<Destination>();
    for (int i = 0; i < 5; i++) {
      used.add(request(_ -> {
      }).pod());
    }

    assertThat(used).hasSize(5).doesNotContainNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "../etc", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "\u0000"})
  void isReplacedIfItIsForged(String value) {
    scene.has(pods(3));

    var asked = with(value);

    assertThat(asked.pod()).isNotNull();
    assertThat(set(asked)).startsWith(NAME);
  }

  @Test
  void isReplacedIfItWasSignedWithAnotherSecret() {
    var its = new AffinityCookie("").next(pod(1));

    assertThat(cookies.read(its)).isNull();
    assertThat(new AffinityCookie("a secret").read(cookies.next(pod(1)))).isNotNull();
  }

  @Test
  void isReplacedIfItWasChanged() {
    var value = cookies.next(pod(1));
    for (int i = 0; i < value.length() - 1; i++) {
      char other = value.charAt(i) == 'A' ? 'B' : 'A';
      assertThat(cookies.read(value.substring(0, i) + other + value.substring(i + 1))).isNull();
    }
  }

  @Test
  void bringsItsCallerToTheSamePodAtAnActivatorThatHasNotSeenIt() {
    scene.has(pods(10));
    var first = request(_ -> {
    });
    var value = valueOf(set(first));
    var other = new AffinityScene(1, "cookie", "", "mode", "strict");
    other.has(pods(10));

    var request = FakeRequest.of(other.affinities, other.loop, other.revisions.of(WEB));
    request.headers.put("Cookie", NAME + "=" + value);

    assertThat(other.request(request).pod()).isEqualTo(first.pod());
  }

  /** Most callers without one never come back with it. */
  @Test
  void takesNoMemoryAndNoMessageBeforeItComesBack() {
    scene.changes(0, "cookie", "");
    scene.has(pods(3));

    for (int i = 0; i < 10_000; i++) {
      var asked = request(_ -> {
      });
      set(asked);
      asked.ends();
    }

    assertThat(scene.affinities.keys()).isZero();
    assertThat(scene.notices).isEmpty();
  }
}
