package dev.activator.proxy.exchange;

import dev.activator.config.NamespaceHostRules;
import dev.activator.standalone.policy.ScaledServiceRouteTable;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.lifecycle.Readiness;
import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.policy.ScaledServiceRoute;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What is done with the head of a request: its revision is found among 10,000, and its headers are
 * rewritten. Next to that a plain copy of the head, which the rewriting includes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class RoutingBenchmark {
  private static final int REVISIONS = 10_000;

  private final LiveRevisions revisions = new LiveRevisions(_ -> new VirtualLoop());
  private Router router;
  private HttpRequest byHeaders;
  private HttpRequest byHost;
  private ScaledServiceRouteTable hosts;

  @Setup
  public void revisions() {
    for (int i = 0; i < REVISIONS; i++) {
      var id = new RevisionId("namespace-" + i % 100, "revision-" + i);
      revisions.update(Revision.of(id, 0));
    }
    router = new Router(new RevisionResolver.Knative("cluster.local", (_, _, _) -> null), _ -> null,
        revisions, Readiness.Ready::new);
    byHeaders = head("some.example.com");
    byHeaders.headers().set("Knative-Serving-Namespace", "namespace-42")
        .set("Knative-Serving-Revision", "revision-4242");
    byHost = head("revision-4242.namespace-42.svc.cluster.local");
    hosts = ScaledServiceRouteTable.of(scaledServices(), "cluster.local", NamespaceHostRules.ANY);
  }

  /** Each has a host, and one of them ten rules more, of which the last one matches. */
  private static List<ScaledService> scaledServices() {
    var all = new ArrayList<ScaledService>();
    for (int i = 0; i < REVISIONS; i++) {
      var rules = new ArrayList<ScaledServiceRoute>();
      for (int rule = 0; i == 0 && rule < 10; rule++) {
        rules.add(
            new ScaledServiceRoute(List.of(),
                new ScaledServiceRoute.Path("/path" + "/".repeat(rule), true),
                List.of(), "p" + rule));
      }
      all.add(TestValues.scaledService(new RevisionId("namespace-" + i % 100, "service-" + i), "",
          List.of("host-" + i + ".example.com"), rules, List.of()));
    }
    return all;
  }

  private static HttpRequest head(String host) {
    var head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/path?query=1",
        HeaderFieldList.CHECKED);
    head.headers().set("Host", host).set("User-Agent", "curl/8.5.0").set("Accept", "*/*")
        .set("X-Request-Id", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
        .set("X-Forwarded-For", "10.1.2.3").set("X-Forwarded-Proto", "https");
    return head;
  }

  @Benchmark
  public Object foundByHeaders() {
    return router.route(byHeaders, HeaderFieldList.in(byHeaders), RequestVersion.HTTP_1_1);
  }

  @Benchmark
  public Object foundByHost() {
    return router.route(byHost, HeaderFieldList.in(byHost), RequestVersion.HTTP_1_1);
  }

  /** Of a ScaledService without rules. */
  @Benchmark
  public Object foundByTable() {
    return hosts.find("host-4242.example.com", "/path?query=1", HeaderFieldList.in(byHost));
  }

  @Benchmark
  public Object foundByRule() {
    return hosts.find("host-0.example.com", "/path?query=1", HeaderFieldList.in(byHost));
  }

  @Benchmark
  public Object lookedUp() {
    return revisions.find(new RevisionId("namespace-42", "revision-4242"));
  }

  @Benchmark
  public Object rewritten() {
    var headers = byHeaders.headers().copy();
    var fields = HeaderFieldList.of(headers);
    HeaderRewriter.request(fields, RequestVersion.HTTP_1_1, "some.example.com", "10.1.2.4");
    HeaderRewriter.address(fields, "10.0.0.1:8012", null);
    return headers;
  }

  @Benchmark
  public Object copied() {
    return byHeaders.headers().copy();
  }
}
