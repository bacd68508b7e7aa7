package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ClusterActivator;
import dev.activator.app.Extensions;
import dev.activator.lifecycle.Extension;
import dev.activator.proxy.RequestPorts;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The product without each of its extensions in turn: what is left serves. */
@Isolated("The end of Spring's context ends the event loops that other tests use.")
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
      try (var product = product(cluster, leftOut)) {
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

  private static ConfigurableApplicationContext product(FakeCluster cluster, String leftOut) {
    var sources = new ArrayList<Class<?>>(List.of(ClusterActivator.class));
    Extensions.ALL.stream().filter(type -> !Extensions.name(type).equals(leftOut))
        .forEach(sources::add);
    return new SpringApplicationBuilder(sources.toArray(Class[]::new)).profiles("cluster")
        .logStartupInfo(false)
        .run("--activator.cluster.server=" + cluster.api.url(),
            "--activator.cluster.autoscaler=" + cluster.autoscalerUrl(),
            "--activator.identity.pod-name=activator-0", "--activator.identity.pod-ip=127.0.0.1",
            "--activator.identity.system-namespace=" + FakeCluster.SYSTEM, "--server.port=0",
            "--activator.port.http1=0", "--activator.port.h2c=0", "--activator.profiling.port=0",
            "--activator.console.port=0", "--activator.lending.port=0",
            "--activator.serving.propagation-delay=0s");
  }
}
