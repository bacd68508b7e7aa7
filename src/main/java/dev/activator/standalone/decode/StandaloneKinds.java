package dev.activator.standalone.decode;

import dev.activator.kube.decode.WatchedKind;
import dev.activator.standalone.policy.CaObject;
import dev.activator.standalone.policy.HpaSpec;
import dev.activator.standalone.policy.KubernetesService;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ScaledWorkload;
import dev.activator.standalone.policy.ServiceEndpointSlice;

/** The kinds of ScaledServices and of what they refer to. */
public final class StandaloneKinds {
  public static final WatchedKind<ScaledService> SCALED_SERVICES = new WatchedKind<>(
      "ScaledService", "apis/activator.dev/v1alpha1", "scaledservices", ScaledServiceReader::new);
  public static final WatchedKind<KubernetesService> ROUTED_SERVICES = new WatchedKind<>("Service",
      "api/v1", "services", KubernetesServiceReader::new);
  public static final WatchedKind<ServiceEndpointSlice> SERVICE_SLICES = new WatchedKind<>(
      "EndpointSlice", "apis/discovery.k8s.io/v1", "endpointslices",
      ServiceEndpointSliceReader::new,
      ServiceEndpointSlice::after);
  public static final WatchedKind<HpaSpec> HPAS = new WatchedKind<>("HorizontalPodAutoscaler",
      "apis/autoscaling/v2", "horizontalpodautoscalers", HpaReader::new);

  /** ConfigMaps and Secrets with certificates, of which each is watched by its name. */
  public static final WatchedKind<CaObject.Found> CA_CONFIG_MAPS = new WatchedKind<>("ConfigMap",
      "api/v1", "configmaps", CaObjectReader::ofConfigMap);
  public static final WatchedKind<CaObject.Found> CA_SECRETS = new WatchedKind<>("Secret",
      "api/v1", "secrets", CaObjectReader::ofSecret);

  private StandaloneKinds() {}

  /** The kind of a workload that ScaledServices scale. */
  public static WatchedKind<ScaledWorkload> workloads(String kind, String groupPath,
      String plural) {
    return new WatchedKind<>(kind, groupPath, plural, ScaledWorkloadReader::ofTemplates);
  }

  /** The kind of an object whose conditions count. */
  public static WatchedKind<ScaledWorkload> wokenObjects(String kind, String groupPath,
      String plural) {
    return new WatchedKind<>(kind, groupPath, plural, ScaledWorkloadReader::ofConditions);
  }
}
