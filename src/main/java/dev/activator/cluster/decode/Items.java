package dev.activator.cluster.decode;

import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.activator.cluster.policy.PodStatus;
import dev.activator.cluster.policy.Slice;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.Revision;
import io.fabric8.kubernetes.api.model.DefaultKubernetesResourceList;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;

/** The kinds that are watched, as the client library wants to be told of them: a class each. */
public final class Items {
  private Items() {}

  @Group("")
  @Version("v1")
  @Kind("Endpoints")
  @Plural("endpoints")
  @Singular("endpoints")
  @JsonDeserialize(using = OfEndpoints.Decoder.class)
  public static final class OfEndpoints extends Item<Addresses> {
    OfEndpoints() {
      super("v1", "Endpoints");
    }

    static final class Decoder extends ItemDecoder<Addresses, OfEndpoints> {
      Decoder() {
        super(OfEndpoints.class, OfEndpoints::new, EndpointsReader::read);
      }
    }
  }

  public static final class EndpointsList extends DefaultKubernetesResourceList<OfEndpoints> {}

  @Group("discovery.k8s.io")
  @Version("v1")
  @Kind("EndpointSlice")
  @Plural("endpointslices")
  @Singular("endpointslice")
  @JsonDeserialize(using = OfEndpointSlice.Decoder.class)
  public static final class OfEndpointSlice extends Item<Slice> {
    OfEndpointSlice() {
      super("discovery.k8s.io/v1", "EndpointSlice");
    }

    static final class Decoder extends ItemDecoder<Slice, OfEndpointSlice> {
      Decoder() {
        super(OfEndpointSlice.class, OfEndpointSlice::new, EndpointSliceReader::read);
      }
    }
  }

  public static final class EndpointSliceList
      extends DefaultKubernetesResourceList<OfEndpointSlice> {}

  @Group("")
  @Version("v1")
  @Kind("Pod")
  @Plural("pods")
  @Singular("pod")
  @JsonDeserialize(using = OfPod.Decoder.class)
  public static final class OfPod extends Item<PodStatus> {
    OfPod() {
      super("v1", "Pod");
    }

    static final class Decoder extends ItemDecoder<PodStatus, OfPod> {
      Decoder() {
        super(OfPod.class, OfPod::new, PodReader::read);
      }
    }
  }

  public static final class PodList extends DefaultKubernetesResourceList<OfPod> {}

  @Group("")
  @Version("v1")
  @Kind("Service")
  @Plural("services")
  @Singular("service")
  @JsonDeserialize(using = OfService.Decoder.class)
  public static final class OfService extends Item<ClusterIp> {
    OfService() {
      super("v1", "Service");
    }

    static final class Decoder extends ItemDecoder<ClusterIp, OfService> {
      Decoder() {
        super(OfService.class, OfService::new, ServiceReader::read);
      }
    }
  }

  public static final class ServiceList extends DefaultKubernetesResourceList<OfService> {}

  @Group("serving.knative.dev")
  @Version("v1")
  @Kind("Revision")
  @Plural("revisions")
  @Singular("revision")
  @JsonDeserialize(using = OfRevision.Decoder.class)
  public static final class OfRevision extends Item<Revision> {
    OfRevision() {
      super("serving.knative.dev/v1", "Revision");
    }

    static final class Decoder extends ItemDecoder<Revision, OfRevision> {
      Decoder() {
        super(OfRevision.class, OfRevision::new, RevisionReader::read);
      }
    }
  }

  @Group("")
  @Version("v1")
  @Kind("ConfigMap")
  @Plural("configmaps")
  @Singular("configmap")
  @JsonDeserialize(using = OfConfigMap.Decoder.class)
  public static final class OfConfigMap extends Item<ConfigMapReader.Texts> {
    OfConfigMap() {
      super("v1", "ConfigMap");
    }

    static final class Decoder extends ItemDecoder<ConfigMapReader.Texts, OfConfigMap> {
      Decoder() {
        super(OfConfigMap.class, OfConfigMap::new, ConfigMapReader::read);
      }
    }
  }

  public static final class ConfigMapList extends DefaultKubernetesResourceList<OfConfigMap> {}

  @Group("")
  @Version("v1")
  @Kind("Secret")
  @Plural("secrets")
  @Singular("secret")
  @JsonDeserialize(using = OfSecret.Decoder.class)
  public static final class OfSecret extends Item<RoutingCertificate> {
    OfSecret() {
      super("v1", "Secret");
    }

    static final class Decoder extends ItemDecoder<RoutingCertificate, OfSecret> {
      Decoder() {
        super(OfSecret.class, OfSecret::new, SecretReader::read);
      }
    }
  }

  public static final class SecretList extends DefaultKubernetesResourceList<OfSecret> {}

  public static final class RevisionList extends DefaultKubernetesResourceList<OfRevision> {}
}
