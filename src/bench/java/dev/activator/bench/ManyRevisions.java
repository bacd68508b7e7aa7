package dev.activator.bench;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/**
 * Revisions with some pods each, as Knative's controllers write them: a Revision, and a public and a
 * private Service with their Endpoints or EndpointSlices.
 */
public record ManyRevisions(ApiStore store, PodSource source, int podPort, int podsEach) {
  public static final String NAMESPACE = "bench";
  /** Of the Configuration, which is not there. */
  private static final String OWNER = "5f1c6a0e-7b1d-4f0e-9a55-0d9be10c0001";

  ManyRevisions(ApiStore store, int podPort, int podsEach) {
    this(store, PodSource.ENDPOINTS, podPort, podsEach);
  }

  public static ManyRevisions atZero(ApiStore store, PodSource source) {
    return new ManyRevisions(store, source, 0, 0);
  }

  public static String name(int number) {
    return "hello-%05d".formatted(number);
  }

  /** The inverse of {@link #name}. */
  public static int number(String name) {
    return Integer.parseInt(name.substring("hello-".length()));
  }

  public void create(int count) {
    for (int i = 0; i < count; i++) {
      var uid = ObjectMeta.uid(store.create(BuiltInKinds.REVISION, revision(i)));
      for (var type : new String[]{"Public", "Private"}) {
        store.create(BuiltInKinds.SERVICE, service(i, type, uid));
        store.create(source.kind(), podsEach == 0 ? noPods(i, type, uid) : endpoints(i, type, uid));
      }
    }
  }

  private static ObjectNode revision(int number) {
    var revision = Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision', 'metadata': %s,
         'spec': {'containerConcurrency': 0, 'enableServiceLinks': false, 'timeoutSeconds': 300,
           'containers': [{'image': 'registry.example.com/team/hello@sha256:%064d',
             'name': 'user-container', 'ports': [{'containerPort': 8080, 'protocol': 'TCP'}],
             'env': [{'name': 'TARGET', 'value': 'World'}], 'resources':
               {'limits': {'cpu': '1', 'memory': '512Mi'}, 'requests': {'cpu': '100m'}},
             'readinessProbe': {'successThreshold': 1, 'tcpSocket': {'port': 0}}}]}}
        """.formatted(metadata(number, name(number), "", OWNER), number));
    revision.set("status", Objects.parse("""
        {'actualReplicas': 2, 'desiredReplicas': 2, 'observedGeneration': 1, 'conditions': [
           {'lastTransitionTime': '2026-01-01T00:00:00Z', 'status': 'True', 'type': 'Active'},
           {'lastTransitionTime': '2026-01-01T00:00:00Z', 'status': 'True', 'type': 'Ready'}],
         'containerStatuses': [{'imageDigest': 'registry.example.com/team/hello@sha256:%064d',
           'name': 'user-container'}]}""".formatted(number)));
    return revision;
  }

  private static ObjectNode service(int number, String type, String uid) {
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Service', 'metadata': %s, 'spec': {
         'clusterIP': '%s', 'ipFamilies': ['IPv4'], 'internalTrafficPolicy': 'Cluster',
         'ipFamilyPolicy': 'SingleStack', 'sessionAffinity': 'None', 'type': 'ClusterIP',
         'ports': [{'name': 'http', 'port': 80, 'protocol': 'TCP', 'targetPort': 8012},
           {'name': 'https', 'port': 443, 'protocol': 'TCP', 'targetPort': 8112}]}}
        """.formatted(metadata(number, nameOf(number, type), type, uid),
        "10.96." + number / 250 + "." + (1 + number % 250)));
  }

  private ObjectNode endpoints(int number, String type, String uid) {
    var addresses = new StringBuilder();
    for (int pod = 0; pod < podsEach; pod++) {
      addresses.append(pod == 0 ? "" : ", ").append("""
          {'ip': '127.%d.%d.%d', 'nodeName': 'node-%d', 'targetRef': {'kind': 'Pod',
           'name': '%s-deployment-%d', 'namespace': 'bench', 'uid': '%s'}}""".formatted(1 + pod,
          number / 250, 1 + number % 250, pod, name(number), pod, uid));
    }
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints', 'metadata': %s, 'subsets': [
         {'addresses': [%s], 'ports': [{'name': 'http', 'port': %d, 'protocol': 'TCP'}]}]}
        """.formatted(metadata(number, nameOf(number, type), type, uid), addresses, podPort));
  }

  /** Lists these pods as those of the revision. */
  public void list(int number, List<PodSource.Pod> pods) {
    store.edit(source.kind(), NAMESPACE, nameOf(number, "Private"),
        object -> source.list(object, pods));
  }

  private ObjectNode noPods(int number, String type, String uid) {
    var name = nameOf(number, type);
    var object = source.object(metadata(number, name, type, uid), List.of());
    object.withObject("metadata").withObject("labels").put("kubernetes.io/service-name", name);
    return object;
  }

  private static String nameOf(int number, String type) {
    return type.equals("Private") ? name(number) + "-private" : name(number);
  }

  /** With managed fields, which are half of what an API server sends of an object. */
  private static String metadata(int number, String name, String serviceType,
      String uid) {
    var type = serviceType.isEmpty()
        ? ""
        : "'networking.internal.knative.dev/serviceType': '" + serviceType + "',";
    return """
        {'namespace': '%s', 'name': '%s', 'generation': 1, 'labels': {%s 'app': '%s',
         'serving.knative.dev/configuration': 'hello', 'serving.knative.dev/revision': '%s',
         'serving.knative.dev/configurationGeneration': '1',
         'networking.internal.knative.dev/serverlessservice': '%s',
         'serving.knative.dev/revisionUID': '%s', 'serving.knative.dev/service': 'hello'},
         'annotations': {'autoscaling.knative.dev/class': 'kpa.autoscaling.knative.dev',
          'serving.knative.dev/creator': 'system:admin'},
         'ownerReferences': [{'apiVersion': 'networking.internal.knative.dev/v1alpha1',
          'blockOwnerDeletion': true, 'controller': true, 'kind': 'ServerlessService',
          'name': '%s', 'uid': '%s'}],
         'managedFields': [{'apiVersion': 'v1', 'fieldsType': 'FieldsV1', 'manager': 'controller',
          'operation': 'Update', 'time': '2026-01-01T00:00:00Z', 'fieldsV1': {'f:metadata':
          {'f:annotations': {'.': {}, 'f:autoscaling.knative.dev/class': {}},
           'f:labels': {'.': {}, 'f:app': {}, 'f:serving.knative.dev/revision': {}},
           'f:ownerReferences': {'.': {}, 'k:{\\"uid\\":\\"%s\\"}': {}}},
          'f:spec': {'f:internalTrafficPolicy': {}, 'f:ports': {'.': {}, 'k:{\\"port\\":80}':
           {'.': {}, 'f:name': {}, 'f:port': {}, 'f:protocol': {}, 'f:targetPort': {}}}}}}]}
        """.formatted(NAMESPACE, name, type, name(number), name(number), name(number),
        uid, name(number), uid, uid);
  }
}
