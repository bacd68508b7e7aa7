package dev.activator.ext.lending.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.tls.SelfSignedCertificate;
import dev.activator.tls.CertifiedKey;
import dev.activator.testing.Certificate;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class PeerTlsTest {
  private final PeerTls tls = new PeerTls();

  @Test
  void hasNoConnections_beforeItHasAKey() {
    assertThat(tls.client(UnpooledByteBufAllocator.DEFAULT)).isNull();
    assertThat(tls.server(UnpooledByteBufAllocator.DEFAULT)).isNull();
  }

  @Test
  void keepsTheKeyBefore_whereANewOneCannotBeUsed() throws Exception {
    var made = SelfSignedCertificate.of("one");
    tls.use("the Secret s", made.certificate(), made.key());

    assertThatThrownBy(() -> tls.use("the Secret s", made.certificate(),
        Certificate.ec().keyPem())).isInstanceOf(IOException.class)
        .hasMessage("cannot use the certificate and the key in the Secret s: the key does not"
            + " belong to the certificate");
    assertThat(tls.client(UnpooledByteBufAllocator.DEFAULT)).isNotNull();
  }

  @Test
  void makesADifferentKeyEachTime_inACertificateThatOthersCanRead() throws Exception {
    var one = SelfSignedCertificate.of("activator-peers");
    var certificate = CertifiedKey.parse(one.certificate(), one.key()).chain().getFirst();

    certificate.verify(certificate.getPublicKey());
    assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("CN=activator-peers");
    assertThat(certificate.getSerialNumber()).isPositive();
    certificate.checkValidity();
    assertThat(SelfSignedCertificate.of("activator-peers")).isNotEqualTo(one);
    assertThat(one).hasToString("SelfSigned");
  }
}
