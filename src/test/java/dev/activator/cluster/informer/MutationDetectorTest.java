package dev.activator.cluster.informer;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.cluster.informer.Notification.Added;
import dev.activator.testing.VirtualLoop;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MutationDetectorTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final Informer<AtomicReference<String>> informer = new Informer<>("things", loop);

  @BeforeEach
  void start() {
    informer.detectMutations(AtomicReference::get, ofSeconds(10));
    informer.start();
  }

  @Test
  @DisplayName("4.4 finds an object that a handler changed, and counts it once")
  void findsWhatAHandlerChanged() {
    informer.addHandler(change -> {
      if (change instanceof Added<AtomicReference<String>>(var now, _) && now.key().equals("x")) {
        now.object().set("changed");
      }
    }, HandlerOptions.on(loop, "vandal"));

    informer.mirror().replace(List.of(object("x", 1), object("y", 1)));
    loop.advance(ofSeconds(9));
    assertThat(informer.view().mutated()).isZero();
    loop.advance(ofSeconds(60));

    assertThat(informer.view().mutated()).isEqualTo(1);
  }

  @Test
  @DisplayName("4.4 finds it even if the object is replaced before anybody looks")
  void findsWhatWasChangedBeforeItWasReplaced() {
    var first = object("x", 1);
    informer.mirror().put(first);
    loop.run();

    first.object().set("changed");
    informer.mirror().put(object("x", 2));
    informer.mirror().remove(object("x", 3));
    loop.run();

    assertThat(informer.view().mutated()).isEqualTo(1);
  }

  @Test
  void mustBeSwitchedOnBeforeAnythingIsCached() {
    assertThatThrownBy(() -> informer.detectMutations(AtomicReference::get, ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class).hasMessage("things has cached objects already");
  }

  private static VersionedObject<AtomicReference<String>> object(String key, int version) {
    return new VersionedObject<>(key, "uid", Integer.toString(version),
        new AtomicReference<>("as it was"));
  }
}
