package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.Yaml;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.standalone.policy.ActivatorSlicePlanner.Activators;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.testing.Authority;
import dev.activator.tls.PemCertificates;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ports whose pods speak TLS: what the pods must prove, and what is said if that is unknown. */
class PortSecurityTest {
  private static final Instant NOW = Instant.now();
  private static final CaObject.Name BUNDLE = new CaObject.Name(CaObject.Kind.CONFIG_MAP, "shop",
      "web-ca");
  private static final String BY_BUNDLE = "tls: {caCertificateRefs: [{name: web-ca}]}";

  private Authority authority;

  @BeforeEach
  void make() throws GeneralSecurityException {
    authority = Authority.named("one");
  }

  private static ScaledService object(String more) {
    return Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: main}
          target: {concurrency: 20}
          %s
        """.formatted(more)).value();
  }

  private static KubernetesService service(String ports) {
    return Yaml.decoded(StandaloneKinds.ROUTED_SERVICES, """
        metadata: {namespace: shop, name: svc}
        spec: {selector: {app: web}, ports: %s}
        """.formatted(ports)).value();
  }

  private static WorkloadState workload(String probe) {
    return new WorkloadState.Found(
        Yaml.decoded(StandaloneKinds.workloads("Deployment", "apis/apps/v1", "deployments"), """
            metadata: {namespace: shop, name: web}
            spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [
             {name: one, ports: [{containerPort: 8443}], readinessProbe: %s}]}}}
            """.formatted(probe)).value());
  }

  private static ResolvedScaledService resolved(ScaledService object, String ports,
      CaObject bundle) {
    return resolved(object, ports, bundle, "{tcpSocket: {port: 8443}}");
  }

  private static ResolvedScaledService resolved(ScaledService object, String ports, CaObject bundle,
      String probe) {
    var tls = object.tls();
    var authorities = tls == null
        ? null
        : CaBundle.of(tls, "shop", Map.of(BUNDLE, bundle)::get, NOW);
    return ResolvedScaledService.of(object, TestReferences.to(service(ports))
        .workload(workload(probe)).authorities(authorities).found());
  }

  private static CaObject.Found found(String key, String pem) {
    return Yaml.decoded(StandaloneKinds.CA_CONFIG_MAPS, """
        metadata: {namespace: shop, name: web-ca}
        data: {%s: "%s"}
        """.formatted(key, pem.replace("\r", "").replace("\n", "\\n"))).value();
  }

  private CaObject.Found valid() {
    return found("ca.crt", authority.pem());
  }

  private PodIdentity.OfService identity(String name) {
    return new PodIdentity.OfService(name,
        PemCertificates.text(List.of(authority.certificate())));
  }

  @ParameterizedTest(name = "{0}: TLS {1}")
  @CsvSource(delimiter = '|', value = {
      "name: main, appProtocol: https                | true",
      "name: main                                    | true",
      "name: main, appProtocol: grpc                 | true",
      "name: main, appProtocol: kubernetes.io/wss    | true",
      "name: main, appProtocol: HTTP                 | false",
      "name: main, appProtocol: kubernetes.io/h2c    | false",
      "name: main, appProtocol: kubernetes.io/ws     | false"})
  void speaksTlsOnEachPortThatIsNotSaidToBePlain(String port, boolean isTls) {
    var state = resolved(object(BY_BUNDLE), "[{" + port + ", port: 443, targetPort: 8443}]",
        valid());

    assertThat(state.troubles()).isEmpty();
    assertThat(state.revision().podIdentity()).isEqualTo(isTls ? identity("svc.shop.svc") : null);
    assertThat(state.revision().protocol() == PortProtocol.NEGOTIATED).isEqualTo(isTls);
  }

  /** Requests compare them with those of their connections. */
  @Test
  void keepsOneTextOfTheAuthorities_whenItIsResolvedAgain() {
    var first = resolved(object(BY_BUNDLE), "[{name: main, port: 443}]", valid());
    var again = resolved(object(BY_BUNDLE), "[{name: main, port: 443}]", valid());

    assertThat(again.revision().podIdentity().authorities())
        .isSameAs(first.revision().podIdentity().authorities());
  }

  @Test
  void requiresTheHostname_ifOneIsGiven() {
    var state = resolved(object("tls: {caCertificateRefs: [{name: web-ca}], hostname: a.example}"),
        "[{name: main, port: 443}]", valid());

    assertThat(state.revision().podIdentity()).isEqualTo(identity("a.example"));
  }

  @Test
  void trustsTheAuthoritiesOfTheSystem_ifItSaysSo() {
    var state = resolved(object("tls: {wellKnownCACertificates: System, hostname: a.example}"),
        "[{name: main, port: 443}]", new CaObject.Missing());

    assertThat(state.revision().podIdentity())
        .isEqualTo(new PodIdentity.OfService("a.example", ""));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "missing    | there is no ConfigMap shop/web-ca, which spec.tls.caCertificateRefs names",
      "unreadable | ConfigMap shop/web-ca cannot be read: for a reason",
      "no key     | there is no key ca.crt of ConfigMap shop/web-ca; it has other.crt",
      "no PEM     | no certificate in PEM can be read in key ca.crt of ConfigMap shop/web-ca"})
  void requestsAreRefusedWithASentence_whileNoAuthorityIsKnown(String what, String sentence) {
    var bundle = switch (what) {
      case "missing" -> new CaObject.Missing();
      case "unreadable" -> new CaObject.Unreadable("for a reason");
      case "no key" -> found("other.crt", authority.pem());
      default -> found("ca.crt", "text");
    };
    var state = resolved(object(BY_BUNDLE), "[{name: main, port: 443}]", bundle);

    assertThat(state.troubles())
        .containsExactly(new Trouble("NoValidCACertificate", sentence));
    assertThat(state.revision().startFailure())
        .isEqualTo(RevisionStartFailure.shown("NoValidCACertificate", sentence));
    assertThat(state.canStart()).isFalse();
    assertThat(state.mayBeReplaced()).isTrue();
    sendsNoPlainText(state);
  }

  /** Requests to pods that were listed before fail in the handshake. */
  private static void sendsNoPlainText(ResolvedScaledService state) {
    assertThat(state.revision().protocol()).isEqualTo(PortProtocol.NEGOTIATED);
    assertThat(state.revision().podIdentity())
        .isEqualTo(new PodIdentity.OfService("svc.shop.svc", null));
  }

  @Test
  void sendsNoPlainText_whileItIsNotSaidWhichCertificatesToTrust() {
    sendsNoPlainText(resolved(object(""), "[{name: main, port: 443, appProtocol: https}]",
        new CaObject.Missing()));
  }

  @Test
  void sendsNoPlainText_whileThePortIsReplaced() {
    var state = resolved(object(BY_BUNDLE), "[{name: other, port: 443}]", valid());

    assertThat(state.troubles()).extracting(Trouble::reason).containsExactly("PortNotFound");
    assertThat(state.revision().protocol()).isEqualTo(PortProtocol.NEGOTIATED);
    assertThat(state.revision().podIdentity()).isEqualTo(identity("svc.shop.svc"));
  }

  @Test
  void doesNotTrustAnAuthorityThatHasExpired() throws Exception {
    var expired = authority.issueExpired("old");
    var bundle = found("ca.crt", expired.pem());

    assertThat(resolved(object(BY_BUNDLE), "[{name: main, port: 443}]", bundle).troubles())
        .containsExactly(new Trouble("NoValidCACertificate", "all certificates in key ca.crt of"
            + " ConfigMap shop/web-ca have expired, the last one at "
            + expired.certificate().getNotAfter().toInstant()));

    // one that is valid beside it counts
    var state = resolved(object(BY_BUNDLE), "[{name: main, port: 443}]",
        found("ca.crt", expired.pem() + authority.pem()));
    assertThat(state.troubles()).isEmpty();
    assertThat(state.revision().podIdentity()).isEqualTo(identity("svc.shop.svc"));
  }

  @Test
  void usesTheAuthoritiesThatCanBeRead_andSaysWhichCannot() {
    var both = object("tls: {caCertificateRefs: [{name: web-ca}, {name: web-ca, key: more}]}");
    var state = resolved(both, "[{name: main, port: 443}]", found("ca.crt",
        authority.pem() + "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"));

    assertThat(state.revision().podIdentity()).isEqualTo(identity("svc.shop.svc"));
    assertThat(state.revision().startFailure()).isNull();
    assertThat(state.troubles()).containsExactly(
        new Trouble("InvalidCACertificateRef",
            "not every certificate can be read in key ca.crt of ConfigMap shop/web-ca"),
        new Trouble("InvalidCACertificateRef",
            "there is no key more of ConfigMap shop/web-ca; it has ca.crt"));
  }

  @Test
  void isUnknown_whileAnObjectIsRead() {
    assertThat(CaBundle.of(object(BY_BUNDLE).tls(), "shop", _ -> null, NOW)).isNull();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "{httpGet: {path: /up, port: 8443, scheme: HTTPS}} | /up  | true",
      "{httpGet: {path: /up, port: 8443}}                | ''   | false",
      "{tcpSocket: {port: 8443}}                         | ''   | true"})
  void probesOverTls_asTheReadinessProbeSays(String probe, String path, boolean beforeReady) {
    var revision = resolved(object(BY_BUNDLE), "[{name: main, port: 443, targetPort: 8443}]",
        valid(), probe).revision();

    assertThat(revision.readinessProbe().path()).isEqualTo(path);
    assertThat(revision.probesBeforeReady()).isEqualTo(beforeReady);
  }

  @Test
  void eachPortHasItsOwnSecurity() {
    var state = resolved(object("""
        tls: {caCertificateRefs: [{name: web-ca}]}
          rules: [{serviceRef: {port: plain}}]
        """),
        "[{name: main, port: 443}, {name: plain, port: 80, appProtocol: http}]", valid());

    assertThat(state.backends()).extracting(one -> one.revision().podIdentity() != null)
        .containsExactly(true, false);
    assertThat(state.troubles()).isEmpty();
  }

  @ParameterizedTest(name = "bundle known: {0}")
  @ValueSource(booleans = {true, false})
  void doesNotCatchRequestsThatExpectTls(boolean isKnown) {
    var state = resolved(object("""
        catchService: true
          tls: {caCertificateRefs: [{name: web-ca}]}
        """), "[{name: main, port: 443}]", isKnown ? valid() : new CaObject.Missing());
    var service = service("[{name: main, port: 443}]");

    assertThat(ActivatorSlicePlanner.of(state, service, new Activators(8012, List.of("10.0.0.1")),
        Map.of()).catches()).isFalse();
    assertThat(state.warnings()).containsExactly(new Trouble("ServiceNotCaught",
        "callers of port main (443) of Service svc expect TLS with the certificate of its pods,"
            + " which activators have not: remove spec.catchService"));
  }
}
