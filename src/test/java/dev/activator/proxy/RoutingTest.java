package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.lifecycle.Readiness;
import dev.activator.proxy.policy.RevisionResolver.HostRouter;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RoutingTest extends WireTest {
  @Override
  Activator.Settings settings() {
    HostRouter rule = (host, _,
        _) -> host.startsWith("hello.default.localhost") ? Activator.HELLO : null;
    return Activator.Settings.DEFAULT.hosts(rule)
        .services(id -> id.name() + "-private." + id.namespace());
  }

  @Test
  @DisplayName("answers the kubelet whether it is ready, and passes nothing on")
  void answersTheKubeletWhetherItIsReady() throws Exception {
    try (var caller = activator.connect()) {
      caller.sendHead("GET /any HTTP/1.1", "Host: x", "User-Agent: kube-probe/something");
      assertThat(response(caller)).isEqualTo("200 ");

      activator.readiness = new Readiness.NotReady("received SIGTERM from kubelet");
      caller.sendHead("GET / HTTP/1.1", "Host: x", "K-Kubelet-Probe: x");
      assertThat(response(caller)).isEqualTo("500 received SIGTERM from kubelet\n");

      activator.readiness = new Readiness.NotReady("connection has not yet been established");
      Activator.request(caller, "GET / HTTP/1.1", "K-Kubelet-Probe: x");
      assertThat(response(caller)).isEqualTo("500 connection has not yet been established\n");
    }
    assertThat(activator.arrivals).hasValue(0);
  }

  @Test
  @DisplayName("answers probes of the network here")
  void answersProbesOfTheNetworkHere() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "K-Network-Probe: queue");
      assertThat(response(caller))
          .isEqualTo("400 unexpected probe header value: \"queue\"\n");

      Activator.request(caller, "GET /healthz HTTP/1.1", "K-Network-Probe: activator");
      assertThat(response(caller)).isEqualTo("200 activator");

      Activator.request(caller, "POST / HTTP/1.1", "K-Network-Probe: probe", "K-Network-Hash: h");
      var head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 200 OK");
      assertThat(head.header("K-Network-Hash")).isEqualTo("h");
    }
    assertThat(activator.arrivals).hasValue(0);
  }

  @Test
  @DisplayName("passes on what is no probe")
  void passesOnWhatIsNoProbe() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.get("/", "K-Network-Probe:", "K-Network-Hash: h",
        "User-Agent: chromium/734.6.5")) {
      assertThat(response(caller)).isEqualTo("200 ");
    }
    var request = seen();
    assertThat(request.header("K-Network-Hash")).isNull();
    assertThat(request.header("User-Agent")).isEqualTo("chromium/734.6.5");
  }

  @Test
  @DisplayName("says which revision it does not know")
  void saysWhichRevisionItDoesNotKnow() throws Exception {
    try (var caller = activator.connect()) {
      // the second without the namespace
      for (String other : new String[]{"Knative-Serving-Namespace: foospace", "X-Other: 1"}) {
        caller.sendHead("GET / HTTP/1.1", "Host: rev.ns.svc", "Knative-Serving-Revision: fooname",
            other);
        var head = caller.readHead();
        assertThat(head.start()).isEqualTo("HTTP/1.1 404 Not Found");
        assertThat(head.header("Content-Type")).isEqualTo("text/plain; charset=utf-8");
        assertThat(head.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(caller.readBody(head)).isEqualTo("Error getting active endpoint: "
            + "revision.serving.knative.dev \"fooname\" not found\n");
      }
    }
  }

  @Test
  @DisplayName("says that it could not look up a revision")
  void saysThatItCouldNotLookUpARevision() throws Exception {
    try (var caller = activator.connect()) {
      caller.sendHead("GET / HTTP/1.1", "Host: x", "Knative-Serving-Revision: broken",
          "Knative-Serving-Namespace: default");
      assertThat(response(caller)).startsWith("500 Error getting active endpoint: ");
    }
  }

  @Test
  @DisplayName("finds the revision by the host of a Service")
  void findsTheRevisionByTheHostOfAService() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.connect()) {
      caller.sendHead("GET / HTTP/1.1", "Host: hello-00001.default.svc.cluster.local:80");
      assertThat(response(caller)).isEqualTo("200 ");
      caller.sendHead("GET / HTTP/1.1", "Host: hello.default.localhost:8012");
      assertThat(response(caller)).isEqualTo("200 ");
      caller.sendHead("GET / HTTP/1.1", "Host: hello-00001.default.svc");
      assertThat(response(caller)).startsWith("404 ");
    }
  }

  @Test
  @DisplayName("sends it to the Service where a mesh needs it")
  void addressesTheServiceWhereAMeshNeedsIt() throws Exception {
    var id = new RevisionId("real-namespace", "real-name");
    activator.revisions.put(Revision.of(id, 0));
    pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.connect()) {
      caller.sendHead("GET / HTTP/1.1", "Host: x", "Knative-Serving-Revision: real-name",
          "Knative-Serving-Namespace: real-namespace");
      assertThat(response(caller)).isEqualTo("200 ");
    }
    var request = seen();
    assertThat(request.header("Host")).isEqualTo("real-name-private.real-namespace");
    assertThat(request.header("K-Passthrough-Lb")).isEqualTo("true");
    assertThat(request.header("K-Original-Host")).isEqualTo("x");
  }

  @Test
  void readsTheAbsoluteFormOfATarget() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.connect()) {
      caller.sendHead("GET http://hello-00001.default.svc.cluster.local/a?b HTTP/1.1", "Host: x");
      assertThat(response(caller)).isEqualTo("200 ");
    }
    var request = seen();
    assertThat(request.start()).isEqualTo("GET /a?b HTTP/1.1");
    assertThat(request.header("K-Original-Host"))
        .isEqualTo("hello-00001.default.svc.cluster.local");
  }
}
