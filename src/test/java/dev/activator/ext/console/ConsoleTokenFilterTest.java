package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.console.TokenReviewAuthorizer.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;

/** Who may read the console where tokens are checked. */
class ConsoleTokenFilterTest {
  private final List<String> checked = new ArrayList<>();
  private Answer answer = new Answer.Allowed("jane");
  private boolean passed;
  private final ConsoleTokenFilter check = new ConsoleTokenFilter(token -> {
    checked.add(token);
    return CompletableFuture.completedFuture(answer);
  });

  private MockServerHttpResponse ask(String authorization) {
    var request = MockServerHttpRequest.get("/console");
    if (!authorization.isEmpty()) {
      request.header("Authorization", authorization);
    }
    var response = new MockServerHttpResponse();
    check.around((_, to) -> {
      passed = true;
      return to.setComplete();
    }).handle(request.build(), response).block();
    return response;
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"Bearer abc.def|abc.def", "bearer  abc |abc",
      // "anyone:abc.def", and a password with a colon
      "Basic YW55b25lOmFiYy5kZWY=|abc.def", "Basic OmE6Yg==|a:b",
      "BASIC YW55b25lOmFiYy5kZWY=|abc.def"})
  void readsTheTokenOrThePassword(String authorization, String token) {
    ask(authorization);

    assertThat(passed).isTrue();
    assertThat(checked).containsExactly(token);
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource(value = {"''", "Bearer", "'Bearer '", "Digest abc", "Basic !", "Basic YW55b25lOg=="})
  void requiresATokenWithoutCallingTheCluster(String authorization) {
    var response = ask(authorization);

    assertThat(response.getStatusCode().value()).isEqualTo(401);
    assertThat(response.getHeaders().get("WWW-Authenticate")).containsExactly("Bearer",
        "Basic realm=\"activator\"");
    assertThat(response.getBodyAsString().block()).contains("kubectl create token");
    assertThat(checked).isEmpty();
    assertThat(passed).isFalse();
  }

  @Test
  void passesNoEndlessTokenOn() {
    assertThat(ask("Bearer " + "a".repeat(20_000)).getStatusCode().value()).isEqualTo(401);
    assertThat(checked).isEmpty();
  }

  static Stream<Arguments> refusals() {
    return Stream.of(
        Arguments.of(new Answer.Unauthenticated(), 401, "needs a token of this cluster"),
        Arguments.of(new Answer.Forbidden("joe"), 403,
            "joe may not get the non-resource URL /console"),
        Arguments.of(new Answer.Busy(), 429, "too many tokens"),
        Arguments.of(new Answer.Failed("no answer from 10.0.0.1"), 503, "log says why"));
  }

  @ParameterizedTest(name = "{0} is {1}")
  @MethodSource("refusals")
  void saysWhyItRefuses(Answer refusal, int status, String sentence) {
    answer = refusal;

    var response = ask("Bearer abc");

    assertThat(response.getStatusCode().value()).isEqualTo(status);
    assertThat(response.getBodyAsString().block()).contains(sentence).doesNotContain("10.0.0.1");
    assertThat(passed).isFalse();
  }
}
