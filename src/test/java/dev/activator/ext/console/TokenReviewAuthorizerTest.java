package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.activator.ext.console.TokenReviewAuthorizer.Answer;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class TokenReviewAuthorizerTest {
  private static final Duration LONG = Duration.ofSeconds(120);
  private static final String JANE = "{\"authenticated\": true, \"user\": {\"username\": \"jane\","
      + " \"uid\": \"7\", \"groups\": [\"ops\", \"system:authenticated\"],"
      + " \"extra\": {\"scope\": [\"all\"]}}}";

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<JsonNode> reviews = new CopyOnWriteArrayList<>();
  private volatile String token = JANE;
  private volatile String access = "{\"allowed\": true}";
  private volatile int tokenStatus = 201;
  private volatile int accessStatus = 201;
  private HttpServer server;
  private KubernetesApiClient api;
  private TokenReviewAuthorizer authorizer;

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/apis/authentication.k8s.io/v1/tokenreviews",
        exchange -> answer(exchange, tokenStatus, token));
    server.createContext("/apis/authorization.k8s.io/v1/subjectaccessreviews",
        exchange -> answer(exchange, accessStatus, access));
    server.start();
    api = TestValues.kubernetesApi(new ConfigBuilder(Config.empty())
        .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort()).build());
    authorizer = new TokenReviewAuthorizer(() -> api, "/console", loop::nanoTime, LONG);
  }

  @AfterEach
  void stop() {
    api.close();
    server.stop(0);
  }

  private void answer(HttpExchange exchange, int status, String answer) throws IOException {
    reviews.add(JsonMapper.shared().readTree(exchange.getRequestBody().readAllBytes()));
    var body = (status < 300
        ? "{\"status\": " + answer + "}"
        : "{\"kind\": \"Status\", \"message\": \"" + answer + "\"}")
        .getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private Answer check(String token) throws Exception {
    return authorizer.check(token).get(120, TimeUnit.SECONDS);
  }

  @Test
  void checksWhoItIsAndWhetherThatUserMayReadTheConsole() throws Exception {
    assertThat(check("abc")).isEqualTo(new Answer.Allowed("jane"));

    assertThat(reviews).hasSize(2);
    assertThat(reviews.getFirst()).isEqualTo(JsonMapper.shared().readTree("""
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
         "spec": {"token": "abc"}}"""));
    assertThat(reviews.getLast()).isEqualTo(JsonMapper.shared().readTree("""
        {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
         "spec": {"user": "jane", "uid": "7", "groups": ["ops", "system:authenticated"],
                  "extra": {"scope": ["all"]},
                  "nonResourceAttributes": {"path": "/console", "verb": "get"}}}"""));
  }

  @Test
  void refusesATokenThatTheClusterDoesNotKnow() throws Exception {
    token = "{\"error\": \"expired\"}";

    assertThat(check("abc")).isEqualTo(new Answer.Unauthenticated());
    assertThat(reviews).hasSize(1);
  }

  @Test
  void refusesAUserWhoMayNot() throws Exception {
    access = "{\"allowed\": false}";

    assertThat(check("abc")).isEqualTo(new Answer.Forbidden("jane"));
  }

  @Test
  void saysWhichRightItLacks() throws Exception {
    tokenStatus = 403;
    token = "may not create";
    assertThat(check("abc")).isEqualTo(
        new Answer.Failed("creating tokenreviews was answered with 403: may not create"));

    tokenStatus = 201;
    token = JANE;
    accessStatus = 500;
    access = "broken";
    assertThat(check("abc")).isEqualTo(
        new Answer.Failed("creating subjectaccessreviews was answered with 500: broken"));
    assertThat(
        new TokenReviewAuthorizer(() -> null, "/console", loop::nanoTime, LONG).check("abc").join())
        .isEqualTo(new Answer.Failed("not connected"));
  }

  @Test
  void refusesWhenTheAnswerCannotBeRead() throws Exception {
    token = "{";
    assertThat(check("abc")).isInstanceOf(Answer.Failed.class);
    token = "{\"authenticated\": \"yes\", \"user\": \"jane\"}";
    assertThat(check("abc")).isEqualTo(new Answer.Unauthenticated());
  }

  @Test
  void checksAgainHalfAMinuteAfterAnAllowanceAndFiveSecondsAfterARefusal() throws Exception {
    check("abc");
    loop.advance(TokenReviewAuthorizer.ALLOWED.minusNanos(1));
    check("abc");
    assertThat(reviews).hasSize(2);
    loop.advance(Duration.ofNanos(1));
    access = "{\"allowed\": false}";
    assertThat(check("abc")).isEqualTo(new Answer.Forbidden("jane"));

    access = "{\"allowed\": true}";
    loop.advance(TokenReviewAuthorizer.REFUSED.minusNanos(1));
    assertThat(check("abc")).isEqualTo(new Answer.Forbidden("jane"));
    loop.advance(Duration.ofNanos(1));
    assertThat(check("abc")).isEqualTo(new Answer.Allowed("jane"));
  }

  @Test
  void doesNotTakeOneTokenForAnother() throws Exception {
    check("abc");
    token = "{}";

    assertThat(check("abd")).isEqualTo(new Answer.Unauthenticated());
  }

  @Test
  void limitsHowOftenAStrangerCausesReviews() throws Exception {
    check("known");
    token = "{}";
    for (int i = 1; i < TokenReviewAuthorizer.BURST; i++) {
      assertThat(check("guess" + i)).isEqualTo(new Answer.Unauthenticated());
    }
    assertThat(check("one more")).isEqualTo(new Answer.Busy());
    assertThat(check("known")).isEqualTo(new Answer.Allowed("jane"));

    loop.advance(Duration.ofSeconds(1));
    assertThat(check("one more")).isEqualTo(new Answer.Unauthenticated());
  }
}
