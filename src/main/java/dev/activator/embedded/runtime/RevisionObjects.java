package dev.activator.embedded.runtime;

import dev.activator.embedded.api.Json;
import dev.activator.embedded.api.Kinds;
import dev.activator.embedded.api.Meta;
import dev.activator.embedded.runtime.policy.ServicePlan.NewRevision;
import dev.activator.revision.Protocol;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The objects that a Service's template, and then each revision, brings.
 *
 * <p>
 * <b>Source.</b> {@code pkg/reconciler/revision/resources} and {@code
 * pkg/reconciler/serverlessservice/resources} in Knative Serving. The public Endpoints always hold
 * the activator: here it is the only way to the pods.
 */
final class RevisionObjects {
  private static final int TIMEOUT_SECONDS = 300;

  private RevisionObjects() {}

  /** The fingerprint of a Service's template: equal for equal templates, however written. */
  static String fingerprint(JsonNode service) {
    return Names.hash("SHA-256", canonical(service.path("spec").path("template"))).substring(0, 32);
  }

  /** The revision that a Service's template becomes. */
  static ObjectNode revision(ObjectNode service, NewRevision plan) {
    var template = service.path("spec").path("template");
    String owner = Meta.name(service);
    var revision = Objects.of(Kinds.REVISION, Meta.namespace(service), plan.name());
    var metadata = Meta.of(revision);
    var labels = metadata.putObject("labels");
    Meta.labels(template).forEach(labels::put);
    labels.put(Names.SERVICE, owner).put(Names.CONFIGURATION, owner).put(Names.GENERATION,
        Integer.toString(plan.number()));
    var annotations = metadata.putObject("annotations");
    RevisionReader.annotations(template).forEach(annotations::put);
    annotations.put(Names.TEMPLATE, fingerprint(service));
    own(metadata, service);
    revision.set("spec", defaulted(template.path("spec")));
    return revision;
  }

  static ObjectNode deployment(JsonNode revision) {
    String name = Meta.name(revision);
    var deployment = Objects.of(Kinds.DEPLOYMENT, Meta.namespace(revision), Names.deployment(name));
    own(Meta.of(deployment), revision);
    labels(revision).forEach(Meta.of(deployment).putObject("labels")::put);
    var spec = deployment.putObject("spec").put("replicas", 0);
    spec.putObject("selector").putObject("matchLabels").put(Names.REVISION_UID,
        Meta.uid(revision));
    var template = spec.putObject("template");
    labels(revision).forEach(template.putObject("metadata").putObject("labels")::put);
    template.putObject("spec").set("containers",
        revision.path("spec").path("containers").deepCopy());
    return deployment;
  }

  static ObjectNode publicService(JsonNode revision, Protocol protocol) {
    var service = child(Kinds.SERVICE, revision, Meta.name(revision), "Public");
    var spec = service.putObject("spec").put("type", "ClusterIP").put("clusterIP", "None");
    spec.putArray("ports").addObject().put("name", protocol.portName()).put("protocol", "TCP")
        .put("port", protocol == Protocol.H2C ? 81 : 80)
        .put("targetPort", protocol == Protocol.H2C ? 8013 : 8012);
    return service;
  }

  static ObjectNode privateService(JsonNode revision, Protocol protocol) {
    var service = child(Kinds.SERVICE, revision, Names.privateService(Meta.name(revision)),
        "Private");
    var spec = service.putObject("spec").put("type", "ClusterIP").put("clusterIP", "None");
    spec.putObject("selector").put(Names.REVISION_UID, Meta.uid(revision));
    spec.putArray("ports").addObject().put("name", protocol.portName()).put("protocol", "TCP")
        .put("port", 80).put("targetPort", protocol == Protocol.H2C ? 8013 : 8012);
    return service;
  }

  static ObjectNode publicEndpoints(JsonNode revision, Protocol protocol,
      InetSocketAddress activator) {
    var endpoints = child(Kinds.ENDPOINTS, revision, Meta.name(revision), "Public");
    var subset = endpoints.putArray("subsets").addObject();
    subset.putArray("addresses").addObject().put("ip", activator.getAddress().getHostAddress());
    subset.putArray("ports").addObject().put("name", protocol.portName())
        .put("port", activator.getPort()).put("protocol", "TCP");
    return endpoints;
  }

  /** Without pods: whoever runs those adds them. */
  static ObjectNode privateEndpoints(JsonNode revision) {
    return child(Kinds.ENDPOINTS, revision, Names.privateService(Meta.name(revision)), "Private");
  }

  /** What the objects of a revision carry: its own labels, and which revision it is. */
  static Map<String, String> labels(JsonNode revision) {
    var labels = new TreeMap<>(Meta.labels(revision));
    labels.remove("serving.knative.dev/route");
    labels.remove("serving.knative.dev/routingState");
    labels.put(Names.REVISION, Meta.name(revision));
    labels.put(Names.REVISION_UID, Meta.uid(revision));
    labels.putIfAbsent("app", Meta.name(revision));
    return labels;
  }

  private static ObjectNode child(dev.activator.embedded.api.Kind kind, JsonNode revision,
      String name, String type) {
    var child = Objects.of(kind, Meta.namespace(revision), name);
    own(Meta.of(child), revision);
    var labels = Meta.of(child).putObject("labels");
    labels(revision).forEach(labels::put);
    labels.put(Names.SERVICE_TYPE, type).put(Names.SERVERLESS_SERVICE, Meta.name(revision));
    return child;
  }

  private static void own(ObjectNode metadata, JsonNode owner) {
    metadata.putArray("ownerReferences").addObject()
        .put("apiVersion", owner.path("apiVersion").stringValue(""))
        .put("kind", owner.path("kind").stringValue("")).put("name", Meta.name(owner))
        .put("uid", Meta.uid(owner)).put("controller", true).put("blockOwnerDeletion", true);
  }

  private static JsonNode defaulted(JsonNode templateSpec) {
    var spec = templateSpec instanceof ObjectNode known ? known.deepCopy() : Json.object();
    if (!spec.path("timeoutSeconds").isNumber()) {
      spec.put("timeoutSeconds", TIMEOUT_SECONDS);
    }
    if (!spec.path("containerConcurrency").isNumber()) {
      spec.put("containerConcurrency", 0);
    }
    return spec;
  }

  private static String canonical(JsonNode node) {
    if (!node.isObject()) {
      return node.isArray()
          ? node.valueStream().map(RevisionObjects::canonical).toList().toString()
          : node.toString();
    }
    var sorted = new TreeMap<String, String>();
    node.properties().forEach(field -> sorted.put(field.getKey(), canonical(field.getValue())));
    return sorted.toString();
  }
}
