package dev.activator.bench.beside;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.bench.Measurement;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.activators.ActivatorProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import reactor.netty.resources.LoopResources;

/**
 * Knative's activator and this one on the same API, with one revision for each pod. {@code test/beside/run} starts it in a network of
 * its own, and ends it by closing its input.
 */
public final class BesideCluster {
  /** A pod without a queue-proxy, whose requests are in HTTP/1.1, whatever callers use. */
  private static final String CONTAINER = "container";

  private BesideCluster() {}

  /** @param args the binary of Knative's, the port of ours, the jar or class path of ours, and pods: {@code NAME=PORT} */
  public static void main(String[] args) {
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws Exception {
    var autoscaler = new StatsServer(
        LoopResources.create("autoscaler", 1, true).onServer(LoopResources.DEFAULT_NATIVE),
        ActivatorProcess.autoscaler(), _ -> {
        });
    autoscaler.start();
    try (var api = ActivatorProcess.cluster()) {
      for (var pod : List.of(args).subList(3, args.length)) {
        var parts = pod.split("=");
        revision(api, parts[0], Integer.parseInt(parts[1]));
      }
      int port = Integer.parseInt(args[1]);
      var activators = new ArrayList<Process>();
      activators.add(
          ActivatorProcess.reference(Path.of(args[0]), ActivatorProcess.kubeconfig(api.url())));
      activators.add(ActivatorProcess.start(api.url(), Files.isRegularFile(Path.of(args[2]))
          ? List.of("-jar", args[2])
          : List.of("-cp", args[2], "dev.activator.ActivatorApplication"), List.of(), port));
      ActivatorProcess.awaitReady(ActivatorProcess.REFERENCE_PORT, activators.getFirst());
      ActivatorProcess.awaitReady(port, activators.getLast());
      System.out.println("ready");
      System.in.transferTo(System.err);
      for (var one : activators) {
        one.destroyForcibly().waitFor();
      }
    }
  }

  private static void revision(EmbeddedApi api, String name, int port) {
    api.store().create(BuiltInKinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': 'shop', 'name': '%s', 'annotations': {%s}},
         'spec': {'containerConcurrency': 0, 'timeoutSeconds': 60, 'containers': [{'image': 'i'}]}}
        """.formatted(name, name.equals(CONTAINER) ? "'activator.dev/probe': 'container'" : "")));
    endpoints(api, name, name + "-private", "Private", port);
    endpoints(api, name, name, "Public", ActivatorProcess.REFERENCE_PORT);
  }

  private static void endpoints(EmbeddedApi api, String revision, String name, String type,
      int port) {
    api.store().create(BuiltInKinds.ENDPOINTS, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints',
         'metadata': {'namespace': 'shop', 'name': '%s', 'labels': {
           'networking.internal.knative.dev/serviceType': '%s',
           'serving.knative.dev/revision': '%s', 'serving.knative.dev/revisionUID': 'u'}},
         'subsets': [{'addresses': [{'ip': '127.0.0.1'}], 'ports': [{'name': 'http', 'port': %d}]}]}
        """.formatted(name, type, revision, port)));
  }
}
