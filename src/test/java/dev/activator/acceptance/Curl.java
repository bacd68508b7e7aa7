package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Asks an activator, and its API, as a user's curl and kubectl do. */
final class Curl {
  private static final HttpClient CLIENT = HttpClient.newBuilder()
      .version(HttpClient.Version.HTTP_1_1).build();

  private final ActivatorProcess activator;

  Curl(ActivatorProcess activator) {
    this.activator = activator;
  }

  /** GET / of this host. */
  HttpResponse<String> get(String host) throws Exception {
    return getLater(host).get();
  }

  CompletableFuture<HttpResponse<String>> getLater(String host) {
    var request = request("http://127.0.0.1:" + activator.requestPort() + "/")
        .header("Host", host + ":" + activator.requestPort()).build();
    return CLIENT.sendAsync(request, BodyHandlers.ofString());
  }

  /** GET of a path of the API. */
  String api(String path) throws Exception {
    return CLIENT.send(request(activator.api() + path).build(), BodyHandlers.ofString()).body();
  }

  /** DELETE of a path of the API. */
  int delete(String path) throws Exception {
    var request = request(activator.api() + path).DELETE().build();
    return CLIENT.send(request, BodyHandlers.discarding()).statusCode();
  }

  /** Creates a Knative Service. */
  HttpResponse<String> apply(String service) throws Exception {
    return create("/apis/serving.knative.dev/v1/namespaces/default/services", service);
  }

  /** Creates an object of the kind with this path. */
  HttpResponse<String> create(String path, String object) throws Exception {
    var request = request(activator.api() + path)
        .header("Content-Type", "application/yaml").POST(BodyPublishers.ofString(object)).build();
    return CLIENT.send(request, BodyHandlers.ofString());
  }

  /** Creates a Knative Service; once that is answered, requests find it. */
  void serve(String service) throws Exception {
    var answer = apply(service);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
  }

  /** Changes a Knative Service by a merge patch. */
  int patch(String name, String patch) throws Exception {
    var request = request(
        activator.api() + "/apis/serving.knative.dev/v1/namespaces/default/services/" + name)
        .header("Content-Type", "application/merge-patch+json")
        .method("PATCH", BodyPublishers.ofString(patch)).build();
    return CLIENT.send(request, BodyHandlers.discarding()).statusCode();
  }

  private static HttpRequest.Builder request(String uri) {
    return HttpRequest.newBuilder(URI.create(uri)).timeout(Duration.ofMinutes(2));
  }
}
