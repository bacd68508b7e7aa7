package dev.activator.embedded.api.store;

import static dev.activator.embedded.api.store.Kind.Trait.BUILT_IN;
import static dev.activator.embedded.api.store.Kind.Trait.CLUSTER_SCOPED;
import static dev.activator.embedded.api.store.Kind.Trait.CREATED_BY_UPDATE;
import static dev.activator.embedded.api.store.Kind.Trait.EMPTY;
import static dev.activator.embedded.api.store.Kind.Trait.GENERATION;
import static dev.activator.embedded.api.store.Kind.Trait.NAME_IS_LABEL;
import static dev.activator.embedded.api.store.Kind.Trait.NAME_IS_PATH_SEGMENT;
import static dev.activator.embedded.api.store.Kind.Trait.SCALE;
import static dev.activator.embedded.api.store.Kind.Trait.STATUS;
import static dev.activator.embedded.api.store.Kind.Trait.VERSION_REQUIRED;

import java.util.List;
import java.util.stream.Stream;

/** The kinds that the embedded API always has, without a CustomResourceDefinition. */
public final class BuiltInKinds {
  public static final Kind NAMESPACE = Kind
      .of("", "v1", "Namespace", "namespaces", CLUSTER_SCOPED, STATUS, BUILT_IN, NAME_IS_LABEL)
      .shortNames("ns");
  public static final Kind CONFIG_MAP = Kind.of("", "v1", "ConfigMap", "configmaps", BUILT_IN)
      .shortNames("cm");
  public static final Kind SECRET = Kind.of("", "v1", "Secret", "secrets", BUILT_IN);
  public static final Kind SERVICE = Kind.of("", "v1", "Service", "services", STATUS, BUILT_IN,
      CREATED_BY_UPDATE, NAME_IS_LABEL).shortNames("svc").categories("all");
  public static final Kind ENDPOINTS = Kind
      .of("", "v1", "Endpoints", "endpoints", BUILT_IN, CREATED_BY_UPDATE).shortNames("ep");
  public static final Kind POD = Kind.of("", "v1", "Pod", "pods", STATUS, GENERATION, BUILT_IN)
      .shortNames("po").categories("all");
  public static final Kind EVENT = Kind
      .of("", "v1", "Event", "events", BUILT_IN, CREATED_BY_UPDATE, NAME_IS_PATH_SEGMENT)
      .shortNames("ev");
  public static final Kind SERVICE_ACCOUNT = Kind
      .of("", "v1", "ServiceAccount", "serviceaccounts", BUILT_IN).shortNames("sa");
  public static final Kind DEPLOYMENT = Kind
      .of("apps", "v1", "Deployment", "deployments", STATUS, SCALE, GENERATION, BUILT_IN)
      .shortNames("deploy").categories("all");
  public static final Kind REPLICA_SET = Kind
      .of("apps", "v1", "ReplicaSet", "replicasets", STATUS, SCALE, GENERATION, BUILT_IN)
      .shortNames("rs").categories("all");
  public static final Kind LEASE = Kind.of("coordination.k8s.io", "v1", "Lease", "leases",
      BUILT_IN, VERSION_REQUIRED, CREATED_BY_UPDATE);
  public static final Kind ENDPOINT_SLICE = Kind.of("discovery.k8s.io", "v1", "EndpointSlice",
      "endpointslices", GENERATION, BUILT_IN);
  public static final Kind HORIZONTAL_POD_AUTOSCALER = Kind.of("autoscaling", "v2",
      "HorizontalPodAutoscaler", "horizontalpodautoscalers", STATUS, BUILT_IN).shortNames("hpa")
      .categories("all");
  public static final Kind CUSTOM_RESOURCE_DEFINITION = Kind
      .of("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
          CLUSTER_SCOPED, STATUS, GENERATION, BUILT_IN)
      .shortNames("crd", "crds").categories("api-extensions");

  public static final Kind REVISION = knative("serving.knative.dev", "v1", "Revision", "revisions")
      .shortNames("rev").categories("all", "knative", "serving");
  public static final Kind KNATIVE_SERVICE = knative("serving.knative.dev", "v1", "Service",
      "services").shortNames("kservice", "ksvc").categories("all", "knative", "serving");
  public static final Kind CONFIGURATION = knative("serving.knative.dev", "v1", "Configuration",
      "configurations").shortNames("config", "cfg").categories("all", "knative", "serving");
  public static final Kind ROUTE = knative("serving.knative.dev", "v1", "Route", "routes")
      .shortNames("rt").categories("all", "knative", "serving");
  public static final Kind SERVERLESS_SERVICE = knative("networking.internal.knative.dev",
      "v1alpha1", "ServerlessService", "serverlessservices").shortNames("sks")
      .categories("knative-internal", "networking");
  public static final Kind POD_AUTOSCALER = Kind
      .of("autoscaling.internal.knative.dev", "v1alpha1", "PodAutoscaler", "podautoscalers",
          STATUS, SCALE, GENERATION, VERSION_REQUIRED)
      .shortNames("kpa", "pa").categories("knative-internal", "autoscaling");
  public static final Kind METRIC = knative("autoscaling.internal.knative.dev", "v1alpha1",
      "Metric", "metrics").categories("knative-internal", "autoscaling");

  private static final List<Kind> ALL = List.of(NAMESPACE, CONFIG_MAP, SECRET, SERVICE,
      ENDPOINTS, POD, EVENT, SERVICE_ACCOUNT, DEPLOYMENT, REPLICA_SET, LEASE, ENDPOINT_SLICE,
      HORIZONTAL_POD_AUTOSCALER, CUSTOM_RESOURCE_DEFINITION, REVISION, KNATIVE_SERVICE,
      CONFIGURATION, ROUTE, SERVERLESS_SERVICE, POD_AUTOSCALER, METRIC,
      empty("", "PersistentVolume", "persistentvolumes", CLUSTER_SCOPED).shortNames("pv"),
      empty("", "PersistentVolumeClaim", "persistentvolumeclaims").shortNames("pvc"),
      empty("", "ReplicationController", "replicationcontrollers").shortNames("rc")
          .categories("all"),
      empty("apps", "DaemonSet", "daemonsets").shortNames("ds").categories("all"),
      empty("apps", "StatefulSet", "statefulsets").shortNames("sts").categories("all"),
      empty("batch", "CronJob", "cronjobs").shortNames("cj").categories("all"),
      empty("batch", "Job", "jobs").categories("all"),
      empty("networking.k8s.io", "Ingress", "ingresses").shortNames("ing"));

  private BuiltInKinds() {}

  private static Kind knative(String group, String version, String kind, String plural) {
    return Kind.of(group, version, kind, plural, STATUS, GENERATION, VERSION_REQUIRED);
  }

  private static Kind empty(String group, String kind, String plural, Kind.Trait... more) {
    return Kind.of(group, "v1", kind, plural, Stream.concat(Stream.of(EMPTY), Stream.of(more))
        .toArray(Kind.Trait[]::new));
  }

  public static List<Kind> all() {
    return ALL;
  }
}
