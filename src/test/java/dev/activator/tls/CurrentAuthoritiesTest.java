package dev.activator.tls;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An authority was replaced by one of the same name, and pods show both with their certificates. */
class CurrentAuthoritiesTest {
  private final X509Bundle old = authority(Duration.ofDays(-1));
  private final X509Bundle now = authority(Duration.ofDays(1));

  CurrentAuthoritiesTest() throws Exception {}

  private static X509Bundle authority(Duration end) throws Exception {
    return new CertificateBuilder().ecp256().subject("CN=ca").setIsCertificateAuthority(true)
        .notBefore(Instant.now().minus(Duration.ofDays(10))).notAfter(Instant.now().plus(end))
        .buildSelfSigned();
  }

  private static X509Certificate issuedBy(X509Bundle authority) throws Exception {
    return new CertificateBuilder().ecp256().subject("CN=pod").addExtendedKeyUsageServerAuth()
        .addSanDnsName("data-plane.knative.dev").buildIssuedBy(authority).getCertificate();
  }

  private void verify(X509Certificate... chain) throws CertificateException {
    PemCertificates.trust(List.of(old.getCertificate(), now.getCertificate()))
        .checkServerTrusted(chain, "ECDHE_ECDSA");
  }

  @Test
  void trustsTheNewAuthority_thoughTheChainHasTheExpiredOneOfTheSameName() throws Exception {
    var pod = issuedBy(now);

    assertThatCode(() -> {
      verify(pod);
      verify(pod, now.getCertificate(), old.getCertificate());
      verify(pod, old.getCertificate(), now.getCertificate());
      verify(pod, old.getCertificate());
    }).doesNotThrowAnyException();
  }

  @Test
  void trustsNoExpiredAuthority() throws Exception {
    var pod = issuedBy(old);

    assertThatThrownBy(() -> verify(pod, old.getCertificate()))
        .isInstanceOf(CertificateException.class)
        .hasMessageStartingWith("the authority CN=ca is valid from ");
  }
}
