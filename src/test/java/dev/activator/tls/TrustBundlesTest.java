package dev.activator.tls;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.activator.testing.Authority;
import dev.activator.testing.LogLines;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Isolated("reads the log")
class TrustBundlesTest {
  private static Authority first;
  private static Authority second;
  private static Authority third;

  private final List<Collection<X509Certificate>> received = new ArrayList<>();
  private final TrustBundles authorities = new TrustBundles(received::add);
  private final LogLines log = LogLines.of(TrustBundles.class);

  @BeforeAll
  static void make() throws Exception {
    first = Authority.named("first");
    second = Authority.named("second");
    third = Authority.named("third");
  }

  @AfterEach
  void stop() {
    log.close();
  }

  private void trusts(Authority... expected) {
    assertThat(received.getLast()).containsExactlyInAnyOrder(
        List.of(expected).stream().map(Authority::certificate).toArray(X509Certificate[]::new));
  }

  private List<String> warnings() {
    return log.at(Level.WARN);
  }

  @Test
  @DisplayName("believes the authority of the Secret alone")
  void believesTheOwn() {
    authorities.own("the Secret", first.pem());
    trusts(first);
  }

  @Test
  @DisplayName("believes those of a ConfigMap alone, all of all its values")
  void believesABundle() {
    authorities.bundle("ns/bundle", List.of(first.pem() + second.pem(), third.pem()));
    trusts(first, second, third);
  }

  @Test
  void doesNotWarnOfASecretWithoutAuthorities() {
    authorities.own("the Secret", "");
    authorities.bundle("ns/bundle", List.of(first.pem()));
    trusts(first);
    assertThat(warnings()).isEmpty();
  }

  @Test
  @DisplayName("believes those of the Secret and of the ConfigMap, each once")
  void believesBoth() {
    authorities.own("the Secret", first.pem());
    authorities.bundle("ns/bundle", List.of(second.pem() + first.pem()));
    trusts(first, second);
    assertThat(received.getLast()).hasSize(2);
  }

  @Test
  @DisplayName("leaves an invalid ConfigMap out, with one warning")
  void leavesOutWhatIsInvalid() {
    authorities.own("the Secret", first.pem());
    authorities.bundle("ns/bundle", List.of("no certificate at all"));
    trusts(first);
    assertThat(received).hasSize(1);
    assertThat(warnings()).singleElement().asString().contains("ns/bundle");
  }

  @Test
  void leavesOutTheBrokenPartOfABundle() {
    authorities.bundle("ns/bundle", List.of(first.pem().replace("MII", "QQQ"), "",
        "# a comment\n" + second.pem() + "-----BEGIN CERTIFICATE-----\nAAAA"));
    trusts(second);
    assertThat(warnings()).singleElement().asString().contains("ns/bundle");
  }

  @Test
  @DisplayName("believes the new authority of the Secret, and the old one no more")
  void followsTheSecret() {
    authorities.own("the Secret", first.pem());
    authorities.own("the Secret", first.pem() + second.pem());
    trusts(first, second);
    authorities.own("the Secret", second.pem());
    trusts(second);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "no certificate at all",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"})
  void keepsTheOwnWhereNothingNewCanBeRead(String unreadable) {
    authorities.own("the Secret", first.pem());
    authorities.own("the Secret", unreadable);
    trusts(first);
    assertThat(warnings()).last().asString().contains("No authority can be read in the Secret");

    authorities.own("the Secret", second.pem());
    trusts(second);
  }

  @Test
  void followsBundlesAsTheyComeChangeAndGo() {
    authorities.bundle("ns/a", List.of(first.pem()));
    authorities.bundle("ns/b", List.of(second.pem()));
    trusts(first, second);
    authorities.bundle("ns/a", List.of(third.pem()));
    trusts(second, third);
    authorities.bundleGone("ns/b");
    trusts(third);
    authorities.bundleGone("ns/a");
    assertThat(received.getLast()).isEmpty();
  }

  @Test
  void saysNothingWhereNothingChanges() {
    authorities.own("the Secret", first.pem());
    authorities.bundle("ns/a", List.of(first.pem()));
    authorities.bundleGone("ns/a");
    assertThat(received).hasSize(1);
  }
}
