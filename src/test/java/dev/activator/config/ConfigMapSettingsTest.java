package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.NetworkConfig.MeshMode;
import ch.qos.logback.classic.Level;
import dev.activator.testing.LogLines;
import dev.activator.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads the log")
class ConfigMapSettingsTest {
  private final LogLines log = LogLines.of(ConfigMapSettings.class);
  private final List<String> received = new ArrayList<>();
  private final ConfigMapSettings<NetworkConfig> settings = NetworkConfig.live();

  ConfigMapSettingsTest() {
    settings.onChange((before, now) -> received.add(before.mesh() + " to " + now.mesh()));
  }

  @AfterEach
  void close() {
    log.close();
  }

  private static Map<String, String> mesh(String mode) {
    return Map.of("mesh-compatibility-mode", mode);
  }

  @Test
  @DisplayName("a change is seen by readers and by watchers")
  void aChangeIsSeen() {
    settings.delivered(mesh("disabled"));
    settings.begin();
    assertThat(settings.get().mesh()).isEqualTo(MeshMode.DISABLED);

    settings.delivered(mesh("enabled"));

    assertThat(settings.get().mesh()).isEqualTo(MeshMode.ENABLED);
    assertThat(received).containsExactly("AUTO to DISABLED", "DISABLED to ENABLED");
    assertThat(log.at(Level.INFO)).containsExactly("The ConfigMap config-network has changed");
  }

  @Test
  void callsTheOtherListeners_whenOneThrows() {
    var broken = NetworkConfig.live();
    var seen = new ArrayList<MeshMode>();
    broken.onChange((_, _) -> {
      throw new IllegalStateException("broken");
    });
    broken.onChange((_, now) -> seen.add(now.mesh()));

    broken.delivered(mesh("disabled"));

    assertThat(seen).containsExactly(MeshMode.DISABLED);
    assertThat(log.at(Level.ERROR)).hasSize(1);
  }

  @Test
  void followersReceiveTheCurrentValueAndEachChange() {
    settings.delivered(mesh("disabled"));
    settings.begin();
    var followed = new ArrayList<MeshMode>();

    settings.follow(now -> followed.add(now.mesh()));
    settings.delivered(mesh("enabled"));
    settings.delivered(mesh("Enabled"));

    assertThat(followed).containsExactly(MeshMode.DISABLED, MeshMode.ENABLED);
  }

  @Test
  void whatMeansTheSameIsNoChange() {
    settings.delivered(Map.of());
    settings.begin();
    settings.delivered(Map.of("ingress-class", "kourier"));
    settings.delivered(mesh("Auto"));

    assertThat(received).isEmpty();
    assertThat(log.at(Level.INFO)).isEmpty();
  }

  @Test
  @DisplayName("what makes no sense is one line, and what held before holds")
  void whatMakesNoSenseIsOneLineAndChangesNothing() {
    settings.delivered(mesh("enabled"));
    settings.begin();

    settings.delivered(Map.of("mesh-compatibility-mode", "disabled", "rollout-duration", "soon",
        "http-protocol", "maybe"));

    assertThat(settings.get().mesh()).isEqualTo(MeshMode.ENABLED);
    assertThat(log.at(Level.ERROR)).singleElement().asString().contains("config-network")
        .contains("rollout-duration is 'soon'").contains("http-protocol");
    assertThat(received).containsExactly("AUTO to ENABLED");
  }

  @Test
  @DisplayName("an invalid first content ends the start, and is not logged as well")
  void aFirstContentThatMakesNoSenseEndsTheStart() {
    settings.delivered(Map.of("rollout-duration", "soon"));

    assertThatThrownBy(settings::begin).isInstanceOf(IllegalStateException.class)
        .hasMessage("the ConfigMap config-network: rollout-duration is 'soon', but must be a whole "
            + "number, 0 or more");
    assertThat(log.at(Level.ERROR)).isEmpty();
  }

  @Test
  void aFirstContentMayBePutRightBeforeTheStartIsOver() {
    settings.delivered(Map.of("rollout-duration", "soon"));
    settings.delivered(Map.of("rollout-duration", "10"));
    settings.begin();

    assertThat(settings.get()).isEqualTo(NetworkConfig.DEFAULT);
  }

  @Test
  @DisplayName("a TLS mode that is not that of the start is warned of, and one that is, is not")
  void warnsOfWhatNeedsANewStart() {
    settings.delivered(Map.of());
    settings.begin();

    settings.delivered(Map.of("system-internal-tls", "enabled"));
    settings.delivered(Map.of("system-internal-tls", "disabled"));

    assertThat(log.at(Level.WARN)).singleElement().asString().contains("system-internal-tls");
  }

  @Test
  void isAlwaysTheLastThatMadeSense() {
    Seeds.each(seed -> {
      var fresh = new ConfigMapSettingsTest();
      try {
        fresh.isAlwaysTheLastThatMadeSense(seed);
      } finally {
        fresh.close();
      }
    });
  }

  private void isAlwaysTheLastThatMadeSense(long seed) {
    var random = new Random(seed);
    var lastGood = NetworkConfig.DEFAULT;
    settings.delivered(Map.of());
    settings.begin();
    int changes = 0;
    for (int i = 0; i < 50; i++) {
      // given content that makes sense or not
      var mode = MeshMode.values()[random.nextInt(3)];
      boolean passthrough = random.nextBoolean();
      boolean sense = random.nextInt(3) > 0;
      settings.delivered(Map.of("mesh-compatibility-mode", mode.name(),
          "enable-mesh-pod-addressability", String.valueOf(passthrough), "rollout-duration",
          sense ? "1" : "x"));

      // then what holds is the last that did, and each change was told once
      var next = sense ? new NetworkConfig(mode, passthrough, false) : lastGood;
      changes += next.equals(lastGood) ? 0 : 1;
      lastGood = next;
      assertThat(settings.get()).isEqualTo(lastGood);
      assertThat(received).hasSize(changes);
    }
  }
}
