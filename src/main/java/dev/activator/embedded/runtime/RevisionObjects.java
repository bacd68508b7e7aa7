package dev.activator.embedded.runtime;

import dev.activator.standalone.autoscaler.policy.ScalingAnnotations;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.revision.ChildName;
import dev.activator.revision.KnownLabels;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Makes the objects of a revision: the Revision itself, its Deployment, Services and Endpoints. */
public record RevisionObjects(ObjectNode revision) {
  private static final int HTTP_PORT = 80;
  private static final int FINGERPRINT_BYTES = 16;
  private static final String SERVERLESS_SERVICE = "networking.internal.knative.dev/serverlessservice";
  /** The annotation with the fingerprint of the template. */
  static final String TEMPLATE = "activator.dev/template";
  /** The pods have no queue-proxy. */
  private static final String PROBE = "activator.dev/probe";
  private static final String CONTAINER = "container";
  private static final List<String> INHERITED = List.of(KnownLabels.SERVICE,
      KnownLabels.CONFIGURATION, KnownLabels.CONFIGURATION_GENERATION);

  /** The name of a revision, such as {@code hello-00001} for the first one of {@code hello}. */
  static String revisionName(String service, int number) {
    return ChildName.of(service, "-%05d".formatted(number));
  }

  public static String deploymentName(String revision) {
    return ChildName.of(revision, "-deployment");
  }

  static String fingerprint(JsonNode template) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(Json.bytes(template));
      return HexFormat.of().formatHex(digest, 0, FINGERPRINT_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** @param fingerprint the hash of the template */
  static RevisionObjects of(ObjectNode service, int number, String fingerprint) {
    String name = ObjectMeta.name(service);
    var revision = ControllerWrites.named(BuiltInKinds.REVISION, ObjectMeta.namespace(service),
        revisionName(name, number));
    var given = service.at("/spec/template/metadata");
    labels(revision).setAll(object(given.path("labels")));
    labels(revision).put(KnownLabels.SERVICE, name).put(KnownLabels.CONFIGURATION, name)
        .put(KnownLabels.CONFIGURATION_GENERATION, String.valueOf(number))
        .put(KnownLabels.ROUTING_STATE, "pending");
    ControllerRefs.setController(revision, BuiltInKinds.KNATIVE_SERVICE, service);
    var annotations = ObjectMeta.of(revision).putObject("annotations");
    annotations.setAll(object(given.path("annotations")));
    annotations.put(TEMPLATE, fingerprint).put(PROBE,
        CONTAINER);
    revision.set("spec", object(service.at("/spec/template/spec")));
    return new RevisionObjects(revision);
  }

  String name() {
    return ObjectMeta.name(revision);
  }

  ObjectNode deployment(int replicas) {
    var deployment = of(BuiltInKinds.DEPLOYMENT, deploymentName(name()));
    var spec = deployment.putObject("spec").put("replicas", replicas).put("progressDeadlineSeconds",
        ScalingAnnotations.progressDeadline(
            EmbeddedScaleClient.annotations(ObjectMeta.of(revision))).toSeconds());
    spec.putObject("selector").putObject("matchLabels").put(KnownLabels.REVISION_UID,
        ObjectMeta.uid(revision));
    var template = spec.putObject("template");
    var metadata = template.putObject("metadata");
    metadata.set("labels", ObjectMeta.of(deployment).path("labels").deepCopy());
    metadata.putObject("annotations").put(PodTemplate.TIMEOUT,
        revision.at("/spec/timeoutSeconds").asString(""));
    // Clients with types, such as Kubernetes' own for Java, refuse a Deployment with other fields, or
    // without names.
    var pods = object(revision.path("spec")).remove(List.of("containerConcurrency",
        "timeoutSeconds", "responseStartTimeoutSeconds", "idleTimeoutSeconds"));
    PodObjectBuilder.nameContainer(pods);
    template.set("spec", pods);
    return deployment;
  }

  ObjectNode publicService() {
    return service(name(), KnownLabels.PUBLIC);
  }

  ObjectNode privateService() {
    var service = service(ChildName.ofPrivateService(name()), KnownLabels.PRIVATE);
    ((ObjectNode) service.path("spec")).putObject("selector").put(KnownLabels.REVISION_UID,
        ObjectMeta.uid(revision));
    return service;
  }

  /**
   * The public Endpoints. They always have the activator's address, because all requests go through
   * it.
   */
  ObjectNode publicEndpoints(String address, int port) {
    var endpoints = typed(of(BuiltInKinds.ENDPOINTS, name()), KnownLabels.PUBLIC);
    var subset = endpoints.putArray("subsets").addObject();
    subset.putArray("addresses").addObject().put("ip", address);
    subset.putArray("ports").addObject().put("name", portName()).put("port", port)
        .put("protocol", "TCP");
    return endpoints;
  }

  ObjectNode privateEndpoints() {
    return typed(of(BuiltInKinds.ENDPOINTS, ChildName.ofPrivateService(name())),
        KnownLabels.PRIVATE);
  }

  private ObjectNode service(String name, String type) {
    var service = typed(of(BuiltInKinds.SERVICE, name), type);
    var spec = service.putObject("spec").put("clusterIP", "None");
    spec.putArray("ports").addObject().put("name", portName()).put("port", HTTP_PORT)
        .put("protocol", "TCP");
    return service;
  }

  private static ObjectNode typed(ObjectNode object, String type) {
    labels(object).put(KnownLabels.SERVICE_TYPE, type);
    return object;
  }

  private ObjectNode of(Kind kind, String name) {
    var object = ControllerWrites.named(kind, ObjectMeta.namespace(revision), name);
    var labels = labels(object);
    for (var label : INHERITED) {
      labels.put(label, ObjectMeta.labels(revision).getOrDefault(label, ""));
    }
    labels.put(KnownLabels.REVISION, name())
        .put(KnownLabels.REVISION_UID, ObjectMeta.uid(revision))
        .put(SERVERLESS_SERVICE, name()).put("app", name());
    ControllerRefs.setController(object, BuiltInKinds.REVISION, revision);
    return object;
  }

  private String portName() {
    var ports = revision.at("/spec/containers/0/ports");
    return ports.path(0).path("name").asString("").equals("h2c") ? "http2" : "http";
  }

  private static ObjectNode labels(ObjectNode object) {
    return ObjectMeta.of(object).withObjectProperty("labels");
  }

  private static ObjectNode object(JsonNode node) {
    return node instanceof ObjectNode object ? object.deepCopy() : Json.object();
  }
}
