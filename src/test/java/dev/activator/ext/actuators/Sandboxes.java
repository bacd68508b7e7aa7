package dev.activator.ext.actuators;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import tools.jackson.databind.node.ObjectNode;

/** Objects of a kind that runs or not as its field {@code spec.mode} says. */
final class Sandboxes {
  static final String RESOURCE = "sandboxes.agents.x-k8s.io";

  private final ApiStore store;
  private final Kind kind;

  Sandboxes(ApiStore store) {
    this.store = store;
    store.create(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION, Objects.parse("""
        {'metadata': {'name': 'sandboxes.agents.x-k8s.io'}, 'spec': {'group': 'agents.x-k8s.io',
         'scope': 'Namespaced', 'names': {'kind': 'Sandbox', 'plural': 'sandboxes'},
         'versions': [{'name': 'v1alpha1', 'served': true, 'storage': true,
          'schema': {'openAPIV3Schema': {'type': 'object',
           'x-kubernetes-preserve-unknown-fields': true}}}]}}
        """));
    this.kind = store.kinds().at("agents.x-k8s.io", "v1alpha1", "sandboxes").orElseThrow();
  }

  Kind kind() {
    return kind;
  }

  void create(String name, String spec) {
    store.create(kind, Objects.parse("{'apiVersion': 'agents.x-k8s.io/v1alpha1', 'kind': 'Sandbox',"
        + " 'metadata': {'namespace': 'shop', 'name': '" + name + "'}, 'spec': " + spec + "}"));
  }

  void set(String name, String mode) {
    store.edit(kind, "shop", name, found -> {
      ((ObjectNode) found.path("spec")).put("mode", mode);
      return found;
    });
  }

  void condition(String name, String type, String status) {
    store.edit(kind, "shop", name, found -> {
      found.putObject("status").putArray("conditions").addObject().put("type", type)
          .put("status", status);
      return found;
    });
  }

  String mode(String name) {
    return store.find(kind, "shop", name).at("/spec/mode").asString("");
  }
}
