package dev.activator.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import dev.activator.testing.LogLines;
import dev.activator.testing.TestValues;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerCertificateTest {
  private static Certificate rsa;
  private static Certificate otherRsa;
  private static Certificate ec;
  private static Certificate otherEc;

  @TempDir
  Path directory;

  @BeforeAll
  static void make() throws GeneralSecurityException {
    rsa = Certificate.rsa();
    otherRsa = Certificate.rsa();
    ec = Certificate.ec();
    otherEc = Certificate.ec();
  }

  private static Certificate named(String name) {
    return switch (name) {
      case "RSA" -> rsa;
      case "another RSA" -> otherRsa;
      case "EC" -> ec;
      case "another EC" -> otherEc;
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static ServerCertificate of(String chain, String key) throws IOException {
    return ServerCertificate.of("the Secret s", chain, key, TestValues.TLS13);
  }

  @ParameterizedTest(name = "{0} with the key of {1}")
  @CsvSource({"RSA,another RSA", "EC,another EC", "RSA,EC", "EC,RSA"})
  void refusesAKeyThatIsNotTheCertificates(String shown, String key) {
    assertThatThrownBy(() -> of(named(shown).pem(), named(key).keyPem()))
        .isInstanceOf(IOException.class).hasMessage("cannot use the certificate and the key in"
            + " the Secret s: the key does not belong to the certificate");
  }

  @ParameterizedTest(name = "{0} with {1}")
  @CsvSource({"RSA,PKCS#8", "RSA,PKCS#1", "EC,PKCS#8", "EC,SEC 1"})
  void takesAKeyThatIs(String shown, String form) throws IOException {
    var key = directory.resolve("key");
    named(shown).write(directory.resolve("chain"), key, form);
    String secret = Files.readString(key);
    assertThatCode(() -> of("# ours\n" + named(shown).pem() + otherRsa.pem(), secret))
        .doesNotThrowAnyException();
  }

  @Test
  void leavesOutWhoDoesNotVouchForIt() throws GeneralSecurityException, IOException {
    var root = Authority.named("root");
    var between = root.vouchFor("between");
    var ofTheSameName = root.vouchFor("between");
    var leaf = between.issue("localhost");
    String file = leaf.pem() + "# not ours\n" + otherEc.pem() + root.pem() + ofTheSameName.pem()
        + between.pem() + leaf.pem();

    assertThat(names(file, leaf.keyPem())).containsExactly("CN=localhost", "CN=between", "CN=root");
    assertThat(names(leaf.pem() + root.pem(), leaf.keyPem())).containsExactly("CN=localhost");
    assertThatCode(() -> of(file, leaf.keyPem())).doesNotThrowAnyException();
  }

  private static List<String> names(String chain, String key) throws GeneralSecurityException {
    return CertifiedKey.parse(chain, key).chain().stream()
        .map(one -> one.getSubjectX500Principal().getName()).toList();
  }

  @Test
  void saysWhatIsWrongWithAKeyThatCannotBeRead() {
    assertThatThrownBy(() -> of(ec.pem(), "nothing")).isInstanceOf(IOException.class)
        .hasMessageContaining("the Secret s: the private key cannot be read: Missing private key");
    assertThatThrownBy(
        () -> of(ec.pem(), "-----BEGIN EC PRIVATE KEY-----\n-----END EC PRIVATE KEY-----\n"))
        .isInstanceOf(IOException.class).hasMessageContaining("the Secret s: ");
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void anyDamageToTheFilesIsAnIOException(long seed) {
    var random = new Random(seed);
    for (int i = 0; i < 60; i++) {
      var whole = random.nextBoolean() ? rsa : ec;
      boolean ofChain = random.nextBoolean();
      var chain = ofChain ? damaged(whole.pem(), random) : whole.pem();
      var key = ofChain ? whole.keyPem() : damaged(whole.keyPem(), random);
      try {
        of(chain, key);
      } catch (IOException e) {
        assertThat(e)
            .hasMessageStartingWith("cannot use the certificate and the key in the Secret s: ");
      } catch (RuntimeException e) {
        throw new AssertionError(chain + key, e);
      }
    }
  }

  /** A byte of it replaced, a part left out or doubled, or the text without its dashes and line ends. */
  private static String damaged(String pem, Random random) {
    int lines = pem.indexOf('\n') + 1;
    int from = random.nextInt(pem.length());
    int to = from + random.nextInt(Math.min(80, pem.length() - from));
    return switch (random.nextInt(5)) {
      case 0 -> pem.substring(0, from) + pem.substring(to);
      case 1 -> pem.substring(0, to) + pem.substring(from);
      case 2 ->
        pem.substring(0, from) + (char) ('+' + random.nextInt(80)) + pem.substring(from + 1);
      case 3 -> {
        var body = Base64.getMimeDecoder().decode(pem.substring(lines, pem.indexOf("-----END")));
        body[random.nextInt(body.length)] ^= (byte) (1 << random.nextInt(8));
        yield pem.substring(0, lines) + Base64.getEncoder().encodeToString(body) + "\n"
            + pem.substring(pem.indexOf("-----END"));
      }
      default -> pem.substring(0, lines - 6) + pem.substring(pem.indexOf("-----END"));
    };
  }

  @Test
  void logsOnce_thatFilesCannotBeRead() throws IOException {
    var chain = directory.resolve("chain");
    var key = directory.resolve("key");
    ec.write(chain, key, "PKCS#8");
    var files = ServerCertificate.CertificateFiles.read(chain, key, TestValues.TLS13);
    var line = "WARN The previous certificate stays in use: there is no file " + key;
    try (var log = LogLines.of(ServerCertificate.class)) {
      Files.delete(key);
      files.reload();
      files.reload();
      assertThat(log.lines()).containsOnlyOnce(line);

      // and again when it happens again
      ec.write(chain, key, "PKCS#8");
      files.reload();
      Files.delete(key);
      files.reload();
      assertThat(log.lines().stream().filter(line::equals)).hasSize(2);
    }
  }
}
