package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The order in which a source's revisions and their pods are published. */
class MergedRevisionsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");

  private final VirtualLoop loop = new VirtualLoop();
  private final MergedRevisions merged = new MergedRevisions(new LiveRevisions(_ -> loop),
      new KnativeInformers(PodAddressPreference.of(EndpointsSource.AUTO, "")), () -> null);
  private final List<String> published = new ArrayList<>();

  @BeforeEach
  void listen() {
    merged.revisions.subscribe("test", one -> published.add("revision "
        + one.spec().protocol() + identity(one.spec().podIdentity())));
    merged.pods.changes().subscribe("test", one -> published.add("pods " + one.http1().all()));
  }

  private static String identity(PodIdentity.@Nullable OfService identity) {
    return identity == null ? "" : " " + identity.name() + " by " + identity.authorities();
  }

  private static Revision plain() {
    return revision(PortProtocol.HTTP1, null);
  }

  private static Revision overTls(String name, String authorities) {
    return revision(PortProtocol.NEGOTIATED, new PodIdentity.OfService(name, authorities));
  }

  private static Revision revision(PortProtocol protocol,
      PodIdentity.@Nullable OfService identity) {
    return new Revision(WEB, "1", protocol, 0, RequestTimeouts.DEFAULT, true,
        ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null, null, identity);
  }

  private static PrivateEndpoints at(int port) {
    var pod = DestinationSet.of(new Destination("10.0.0.1", port));
    return new PrivateEndpoints(WEB, new PodsByReadiness(pod, DestinationSet.NONE),
        PodsByReadiness.NONE);
  }

  @Test
  void withdrawsThePodsOfThePortBefore_whenTheNextOneIsReachedInAnotherWay() {
    merged.changed(overTls("web", "ca"), at(8443));
    merged.changed(plain(), at(8080));
    merged.changed(overTls("web", "ca"), at(8443));
    merged.again(overTls("shop", "ca"), at(8443));

    assertThat(published).containsExactly(
        "revision NEGOTIATED web by ca", "pods [10.0.0.1:8443]",
        "pods []", "revision HTTP1", "pods [10.0.0.1:8080]",
        "pods []", "revision NEGOTIATED web by ca", "pods [10.0.0.1:8443]",
        "pods []", "revision NEGOTIATED shop by ca", "pods [10.0.0.1:8443]");
  }

  @Test
  void keepsThePods_whenTheirAuthoritiesChange() {
    merged.changed(overTls("web", "old"), at(8443));
    merged.changed(overTls("web", "new"), at(8443));

    assertThat(published).containsExactly("revision NEGOTIATED web by old",
        "pods [10.0.0.1:8443]", "revision NEGOTIATED web by new");
  }
}
