package dev.activator.kube;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.decode.KnativeKinds;
import com.sun.net.httpserver.HttpServer;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.testing.TestValues;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A token that was replaced in its file: the old one is refused, and the new one is read. */
class TokenTest {
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private HttpServer server;
  @TempDir
  private Path directory;

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", exchange -> {
      var token = exchange.getRequestHeaders().getFirst("Authorization");
      asked.add(token);
      if (!"Bearer new".equals(token)) {
        exchange.sendResponseHeaders(401, -1);
        exchange.close();
        return;
      }
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write("{}".getBytes(UTF_8));
      exchange.close();
    });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void write(Path file, String token) throws Exception {
    writeUser(file, "token: " + token);
  }

  private void writeUser(Path file, String user) throws Exception {
    Files.writeString(file, """
        apiVersion: v1
        kind: Config
        current-context: c
        clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
        users: [{name: u, user: {%s}}]
        contexts: [{name: c, context: {cluster: c, user: u}}]
        """.formatted(server.getAddress().getPort(), user));
  }

  @Test
  void readsTheFileOfATokenForEachRequest() throws Exception {
    var file = directory.resolve("config");
    writeUser(file, "token: unused, tokenFile: token");
    var token = Files.writeString(directory.resolve("token"), "new\n");
    try (var api = TestValues.kubernetesApi(
        KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", "")))) {
      api.fetch("one", Duration.ofSeconds(120)).get();
      Files.writeString(token, "newer\n");
      api.fetch("two", Duration.ofSeconds(120)).get();
      Files.delete(token);
      api.fetch("three", Duration.ofSeconds(120)).get();
    }
    assertThat(asked).startsWith("Bearer new").endsWith("Bearer newer")
        .doesNotContain("Bearer unused");
  }

  @Test
  void takesTheTokenWhileItsFileCannotBeRead() throws Exception {
    var file = directory.resolve("config");
    writeUser(file, "token: first, tokenFile: token");
    try (var api = TestValues.kubernetesApi(
        KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", "")))) {
      api.fetch("one", Duration.ofSeconds(120)).get();
      Files.writeString(directory.resolve("token"), "new");
      api.fetch("two", Duration.ofSeconds(120)).get();
    }
    assertThat(asked).startsWith("Bearer first").endsWith("Bearer new");
  }

  @Test
  void refreshesTheTokenOfAnIdentityProviderWithoutAnAuthority() throws Exception {
    var url = "http://127.0.0.1:" + server.getAddress().getPort();
    answer("/.well-known/openid-configuration", "{\"token_endpoint\": \"" + url + "/token\"}");
    answer("/token", "{\"id_token\": \"new\", \"refresh_token\": \"second\"}");
    var file = directory.resolve("config");
    writeUser(file, "auth-provider: {name: oidc, config: {idp-issuer-url: \"" + url
        + "\", client-id: me, id-token: old, refresh-token: first}}");
    try (var api = TestValues.kubernetesApi(
        KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", "")))) {
      assertThat(api.fetch("one", Duration.ofSeconds(120)).get().status()).isEqualTo(200);
      // The client outlives the refresh.
      assertThat(api.fetch("two", Duration.ofSeconds(120)).get().status()).isEqualTo(200);
    }
    assertThat(asked).containsExactly("Bearer old", "Bearer new", "Bearer new");
  }

  private void answer(String path, String body) {
    server.createContext(path, exchange -> {
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(body.getBytes(UTF_8));
      exchange.close();
    });
  }

  @Test
  void triesAgainWithTheNewToken() throws Exception {
    var file = directory.resolve("config");
    write(file, "old");
    try (var api = TestValues.kubernetesApi(
        KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", "")))) {
      write(file, "new");
      var endpoints = InformerQuery.everywhere(KnativeKinds.ENDPOINTS, "");
      var access = ListWatchAccess.ofListAndWatch(api, endpoints, endpoints)
          .get(120, TimeUnit.SECONDS);
      assertThat(access).isEqualTo(ListWatchAccess.ALLOWED);
      assertThat(asked).containsExactly("Bearer old", "Bearer new", "Bearer new");
    }
  }
}
