package dev.activator.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CipherSuiteNamesTest {
  private final ServerTlsSettings.CipherSuiteNames names = new ServerTlsSettings.CipherSuiteNames(
      "ACTIVATOR_TLS_", 25);
  private final ServerTlsSettings.CipherSuiteNames later = new ServerTlsSettings.CipherSuiteNames(
      "ACTIVATOR_TLS_", 27);

  @Test
  void takesVersionsFromTheOldestToTheNewest() {
    assertThat(names.versions("1.3", "1.3")).containsExactly("TLSv1.3");
    assertThat(names.versions("1.2", "1.2")).containsExactly("TLSv1.2");
    assertThat(names.versions("1.2", "1.3")).containsExactly("TLSv1.2", "TLSv1.3");
  }

  @Test
  void leavesAllToTheRuntimeWhereNothingIsSaid() {
    assertThat(names.cipherSuites("")).isEmpty();
    assertThat(names.groups(" , ")).isEmpty();
  }

  @Test
  void neverSwitchesOffTheSuitesOfTls13() {
    assertThat(names.cipherSuites("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"))
        .containsExactly("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
            "TLS_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    assertThat(names.cipherSuites("TLS_AES_128_GCM_SHA256")).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
      "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
      "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
      "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
      "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
      "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"})
  void knowsOnlySuitesThatTheRuntimeHas(String suite) throws Exception {
    assertThat(names.cipherSuites(suite)).contains(suite)
        .isSubsetOf(SSLContext.getDefault().getSupportedSSLParameters().getCipherSuites());
  }

  @ParameterizedTest
  @CsvSource({"X25519,x25519", "P-256,secp256r1", "CurveP256,secp256r1", "P-384,secp384r1",
      "CurveP384,secp384r1", "P-521,secp521r1", "CurveP521,secp521r1"})
  void translatesCurves(String name, String group) throws Exception {
    assertThat(names.groups(name)).containsExactly(group)
        .isSubsetOf(SSLContext.getDefault().getSupportedSSLParameters().getNamedGroups());
  }

  @Test
  void keepsTheOrderOfCurvesAndLeavesOutWhatJavaHasNot() {
    assertThat(names.groups("X25519MLKEM768, P-384,X25519,CurveP384"))
        .isEqualTo(List.of("secp384r1", "x25519"));
    assertThat(names.weaker("X25519MLKEM768, P-384,X25519,CurveP384"))
        .isEqualTo(
            "ACTIVATOR_TLS_CURVE_PREFERENCES has X25519MLKEM768, which Java 25 does not have:"
                + " connections are made without (Java 27 has it)");
    assertThat(names.weaker("P-384,X25519")).isNull();
  }

  @Test
  void takesHybridsWhereJavaHasThem() {
    assertThat(later.groups("X25519MLKEM768,SecP256r1MLKEM768, SecP384r1MLKEM1024, X25519"))
        .containsExactly("X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024", "x25519");
    assertThat(later.weaker("X25519MLKEM768")).isNull();
  }

  @Test
  void saysWhatIsWrongAndWhere() {
    assertThatThrownBy(() -> names.versions("1.1", "1.3")).hasMessage(
        "ACTIVATOR_TLS_MIN_VERSION is '1.1', but must be one of 1.2, 1.3");
    assertThatThrownBy(() -> names.versions("1.3", "1.2"))
        .hasMessage("ACTIVATOR_TLS_MIN_VERSION is '1.3', but ACTIVATOR_TLS_MAX_VERSION is 1.2");
    assertThatThrownBy(() -> names.cipherSuites("TLS_RSA_WITH_RC4_128_SHA"))
        .hasMessageStartingWith(
            "ACTIVATOR_TLS_CIPHER_SUITES is 'TLS_RSA_WITH_RC4_128_SHA', but must be one of TLS_");
    assertThatThrownBy(() -> names.groups("X25519,P-255"))
        .hasMessageStartingWith("ACTIVATOR_TLS_CURVE_PREFERENCES is 'P-255', but must be one of");
    assertThatThrownBy(() -> names.groups("X25519MLKEM768"))
        .hasMessageContaining("Java 25 has none of these");
  }
}
