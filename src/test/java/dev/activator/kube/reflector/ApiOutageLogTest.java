package dev.activator.kube.reflector;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.activator.kube.RecordingSink;
import dev.activator.testing.LogLines;
import dev.activator.testing.VirtualLoop;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated // It reads what a class writes in the log.
class ApiOutageLogTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final LogLines log = LogLines.of(ApiOutageLog.class);
  private final ApiOutageLog outages = new ApiOutageLog(loop);
  private final FakeListerWatcher pods = new FakeListerWatcher(loop);
  private final FakeListerWatcher services = new FakeListerWatcher(loop);
  private final Reflector<String> ofPods = reflector("pods", pods);
  private final Reflector<String> ofServices = reflector("services", services);

  private Reflector<String> reflector(String resource, FakeListerWatcher api) {
    var sink = new RecordingSink<String>();
    var reflector = new Reflector<>(resource, resource + " -A", api, sink, () -> sink.versions,
        new ReflectorContext(loop, ReflectorSettings.DEFAULT, new Random(1),
            new ApiErrorText("http://x")));
    reflector.onWatchChange(isOpen -> outages.changed(reflector, isOpen));
    return reflector;
  }

  @BeforeEach
  void start() {
    ofPods.start();
    ofServices.start();
    loop.advance(ofSeconds(30));
  }

  @AfterEach
  void close() {
    log.close();
  }

  @Test
  void warnsOnceOfAnOutage_andNamesAllWatches() {
    pods.goesDown();
    services.goesDown();
    loop.advance(ofSeconds(4));
    assertThat(log.at(Level.WARN)).isEmpty();

    loop.advance(ofSeconds(6));
    assertThat(log.at(Level.WARN)).singleElement().asString().matches(
        "The Kubernetes API has given no news of pods, services for [5-9] s, and what started since"
            + " is not seen: cannot reach the Kubernetes API at http://x: down; trying again");
    loop.advance(ofSeconds(300));
    assertThat(log.at(Level.WARN)).hasSize(1);

    pods.comesBack();
    loop.advance(ofSeconds(60));
    assertThat(log.at(Level.INFO)).isEmpty();
    services.comesBack();
    loop.advance(ofSeconds(60));
    assertThat(log.at(Level.INFO)).singleElement().asString()
        .startsWith("All watches of the Kubernetes API are open again, after ");
  }

  @Test
  void saysNothingOfAGapThatEndsInTime() {
    pods.goesDown();
    loop.advance(ofMillis(1_500));
    pods.comesBack();
    loop.advance(ofSeconds(60));

    assertThat(log.at(Level.WARN)).isEmpty();
    assertThat(log.at(Level.INFO)).isEmpty();
  }

  @Test
  void aWatchThatIsNoLongerWantedIsNotSaidToBeOpen_norDoesItsOutageGoOn() {
    pods.goesDown();
    loop.advance(ofSeconds(10));

    ofPods.close();
    outages.released(ofPods);
    services.goesDown();
    loop.advance(ofSeconds(10));
    services.comesBack();
    loop.advance(ofSeconds(60));

    assertThat(log.at(Level.WARN)).hasSize(2);
    assertThat(log.at(Level.INFO)).singleElement().asString()
        .startsWith("All watches of the Kubernetes API are open again, after ");
  }

  @Test
  void aReflectorSaysSinceWhenNoWatchIsOpen_andWhy() {
    assertThat(ofPods.view().health().gap()).isNull();

    long before = loop.nanoTime();
    pods.goesDown();
    loop.advance(ofSeconds(2));

    assertThat(ofPods.view().health().gap()).isEqualTo(new ReflectorStatus.Gap(before,
        "cannot reach the Kubernetes API at http://x: down"));
    assertThat(ofPods.view().health().alarmed()).isFalse();
  }
}
