package dev.activator.testing;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.NetUtil;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;

/** An authority that vouches for certificates, made on the spot. */
public final class Authority {
  private final X509Bundle bundle;

  private Authority(X509Bundle bundle) {
    this.bundle = bundle;
  }

  public static Authority named(String name) throws GeneralSecurityException {
    var builder = new CertificateBuilder().ecp256().subject("CN=" + name)
        .setIsCertificateAuthority(true);
    return new Authority(Certificate.make(builder::buildSelfSigned));
  }

  /** One that expires then. */
  public static Authority named(String name, Instant end) throws GeneralSecurityException {
    var builder = new CertificateBuilder().ecp256().subject("CN=" + name)
        .setIsCertificateAuthority(true).notAfter(end);
    return new Authority(Certificate.make(builder::buildSelfSigned));
  }

  /** A certificate for these names. */
  public Certificate issue(String... names) throws GeneralSecurityException {
    var builder = serverNamed(names);
    return Certificate.of(Certificate.make(() -> builder.buildIssuedBy(bundle)));
  }

  private static CertificateBuilder serverNamed(String... names) {
    var builder = new CertificateBuilder().ecp256().subject("CN=" + names[0])
        .addExtendedKeyUsageServerAuth();
    for (String name : names) {
      if (NetUtil.isValidIpV4Address(name)) {
        builder.addSanIpAddress(name);
      } else {
        builder.addSanDnsName(name);
      }
    }
    return builder;
  }

  /** A certificate for these names that has expired. */
  public Certificate issueExpired(String... names) throws GeneralSecurityException {
    var builder = serverNamed(names).notBefore(Instant.now().minus(Duration.ofDays(2)))
        .notAfter(Instant.now().minus(Duration.ofDays(1)));
    return Certificate.of(Certificate.make(() -> builder.buildIssuedBy(bundle)));
  }

  /** Another, which this one vouches for. */
  public Authority vouchFor(String name) throws GeneralSecurityException {
    var builder = new CertificateBuilder().ecp256().subject("CN=" + name)
        .setIsCertificateAuthority(true);
    return new Authority(Certificate.make(() -> builder.buildIssuedBy(bundle)));
  }

  public X509Certificate certificate() {
    return bundle.getCertificate();
  }

  public String pem() {
    return bundle.getCertificatePEM();
  }
}
