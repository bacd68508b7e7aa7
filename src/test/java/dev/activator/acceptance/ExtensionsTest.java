package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.app.Extensions;
import dev.activator.lifecycle.Extension;
import dev.activator.proxy.RequestPorts;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The product without each of its extensions in turn: what is left serves. */
class ExtensionsTest {
  static Stream<String> names() {
    return Stream.concat(Stream.of("none"), Extensions.ALL.stream().map(Extensions::name));
  }

  @ParameterizedTest(name = "without {0}")
  @MethodSource("names")
  void servesWithoutAnyOneExtension(String leftOut) throws Exception {
    try (var cluster = new FakeCluster(); var http = HttpClient.newHttpClient()) {
      cluster.revision("rev");
      cluster.scaleUp("rev");
      try (var product = cluster.start(Extensions.ALL.stream()
          .filter(type -> !Extensions.name(type).equals(leftOut)).toList())) {
        var answer = http.send(
            HttpRequest.newBuilder(URI.create(
                "http://127.0.0.1:" + product.getBean(RequestPorts.class).http1()))
                .header("Knative-Serving-Namespace", "default")
                .header("Knative-Serving-Revision", "rev").build(),
            BodyHandlers.ofString());

        assertThat(answer.statusCode() + " " + answer.body()).isEqualTo("200 hello");
        assertThat(product.getBeansOfType(Extension.class).values()).extracting(Extension::name)
            .containsAll(
                names().filter(name -> !name.equals("none") && !name.equals(leftOut)).toList())
            .doesNotContain(leftOut);
      }
    }
  }
}
