package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Meta;
import dev.activator.revision.ChildName;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

public record RevisionObjects(ObjectNode service, int number, String template) {
  private static final int HTTP_PORT = 80;
  private static final int FINGERPRINT_BYTES = 16;

  /** {@code hello-00001} for the first of {@code hello}. */
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
    } catch (NoSuchAlgorithmException absent) {
      throw new IllegalStateException("every Java platform has SHA-256", absent);
    }
  }

  String name() {
    return revisionName(Meta.name(service), number);
  }

  ObjectNode revision() {
    var revision = named(name());
    var given = service.at("/spec/template/metadata");
    labels(revision).setAll(object(given.path("labels")));
    own(revision);
    labels(revision).put(KnativeLabels.ROUTING_STATE, "pending");
    var annotations = Meta.of(revision).putObject("annotations");
    annotations.setAll(object(given.path("annotations")));
    annotations.put(KnativeLabels.TEMPLATE, template).put(KnativeLabels.PROBE,
        KnativeLabels.CONTAINER);
    revision.set("spec", templateSpec());
    return revision;
  }

  ObjectNode deployment(String uid) {
    var deployment = of(name(), deploymentName(name()), uid);
    var spec = deployment.putObject("spec");
    spec.put("replicas", RevisionScaling.initialScale(revision()));
    spec.putObject("selector").putObject("matchLabels").put(KnativeLabels.REVISION_UID, uid);
    var template = spec.putObject("template");
    template.putObject("metadata").set("labels", Meta.of(deployment).path("labels").deepCopy());
    template.set("spec", templateSpec());
    return deployment;
  }

  ObjectNode publicService(String uid) {
    return serviceOf(name(), KnativeLabels.PUBLIC, uid);
  }

  ObjectNode privateService(String uid) {
    var service = serviceOf(ChildName.ofPrivateService(name()), KnativeLabels.PRIVATE, uid);
    ((ObjectNode) service.path("spec")).putObject("selector").put(KnativeLabels.REVISION_UID, uid);
    return service;
  }

  /** The activator's address: every request goes through it. */
  ObjectNode publicEndpoints(String uid, String address, int port) {
    var endpoints = typed(of(name(), name(), uid), KnativeLabels.PUBLIC);
    var subset = endpoints.putArray("subsets").addObject();
    subset.putArray("addresses").addObject().put("ip", address);
    subset.putArray("ports").addObject().put("name", portName()).put("port", port)
        .put("protocol", "TCP");
    return endpoints;
  }

  ObjectNode privateEndpoints(String uid) {
    return typed(of(name(), ChildName.ofPrivateService(name()), uid), KnativeLabels.PRIVATE);
  }

  private ObjectNode serviceOf(String name, String type, String uid) {
    var service = typed(of(name(), name, uid), type);
    var spec = service.putObject("spec");
    spec.put("clusterIP", "None");
    spec.putArray("ports").addObject().put("name", portName()).put("port", HTTP_PORT)
        .put("protocol", "TCP");
    return service;
  }

  private static ObjectNode typed(ObjectNode object, String type) {
    labels(object).put(KnativeLabels.SERVICE_TYPE, type);
    return object;
  }

  private ObjectNode of(String revision, String name, String uid) {
    var object = named(name);
    labels(object).put(KnativeLabels.REVISION, revision).put(KnativeLabels.REVISION_UID, uid)
        .put(KnativeLabels.SERVERLESS_SERVICE, revision).put("app", revision);
    own(object);
    return object;
  }

  private ObjectNode named(String name) {
    var object = Json.object();
    Meta.of(object).put("namespace", Meta.namespace(service)).put("name", name);
    return object;
  }

  private void own(ObjectNode object) {
    String name = Meta.name(service);
    labels(object).put(KnativeLabels.SERVICE, name).put(KnativeLabels.CONFIGURATION, name)
        .put(KnativeLabels.GENERATION, String.valueOf(number));
    Meta.of(object).putArray("ownerReferences").addObject()
        .put("apiVersion", "serving.knative.dev/v1").put("kind", "Service").put("name", name)
        .put("uid", Meta.uid(service)).put("controller", true);
  }

  private String portName() {
    var ports = service.at("/spec/template/spec/containers/0/ports");
    return ports.path(0).path("name").asString("").equals("h2c") ? "http2" : "http";
  }

  private ObjectNode templateSpec() {
    return object(service.at("/spec/template/spec"));
  }

  private static ObjectNode labels(ObjectNode object) {
    return Meta.of(object).withObjectProperty("labels");
  }

  private static ObjectNode object(JsonNode node) {
    return node instanceof ObjectNode object ? object.deepCopy() : Json.object();
  }
}
