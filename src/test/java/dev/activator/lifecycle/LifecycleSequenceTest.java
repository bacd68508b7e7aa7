package dev.activator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LifecycleSequenceTest {
  private final List<String> seen = new ArrayList<>();

  @Test
  void stopsInTheOppositeOrder() {
    var order = new LifecycleSequence(List.of(part("api"), part("informers"), part("proxy")));

    order.start();
    order.stop();

    assertThat(seen).containsExactly("+api", "+informers", "+proxy", "-proxy", "-informers",
        "-api");
  }

  @Test
  void leavesNothingHalfStarted() {
    var broken = new LifecyclePart("proxy", () -> {
      throw new IOException("port 8012 is taken");
    }, () -> seen.add("-proxy"));
    var order = new LifecycleSequence(List.of(part("api"), broken, part("console")));

    assertThatThrownBy(order::start).isInstanceOf(StartupFailedException.class)
        .hasMessage("proxy: port 8012 is taken");

    assertThat(seen).containsExactly("+api", "-api");
  }

  @Test
  void leavesNoInterruptForThoseWhoTakeTheRestDown() {
    var waiting = new LifecyclePart("informers", () -> {
      throw new InterruptedException("told to end");
    }, () -> {
    });
    var order = new LifecycleSequence(List.of(part("api"), waiting));

    assertThatThrownBy(order::start).isInstanceOf(StartupFailedException.class)
        .hasCauseInstanceOf(InterruptedException.class);

    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void stopsTheOthersWhenOneDoesNotStop() {
    var stubborn = new LifecyclePart("link", () -> {
    }, () -> {
      throw new IllegalStateException("no");
    });
    var order = new LifecycleSequence(List.of(part("api"), stubborn));
    order.start();

    order.stop();

    assertThat(seen).containsExactly("+api", "-api");
  }

  @Test
  void stopsThoseThatRun_whenAPartFailsWithAnError() {
    var broken = new LifecyclePart("proxy", () -> {
      throw new NoClassDefFoundError("io/netty/Missing");
    }, () -> seen.add("-proxy"));
    var order = new LifecycleSequence(List.of(part("api"), broken));

    assertThatThrownBy(order::start).isInstanceOf(NoClassDefFoundError.class);

    assertThat(seen).containsExactly("+api", "-api");
  }

  @Test
  void stopsTheOthers_whenOneFailsWithAnErrorAsItStops() {
    var broken = new LifecyclePart("link", () -> {
    }, () -> {
      throw new NoClassDefFoundError("io/netty/Missing");
    });
    var order = new LifecycleSequence(List.of(part("api"), broken));
    order.start();

    order.stop();

    assertThat(seen).containsExactly("+api", "-api");
  }

  @Test
  void stopsOnce() {
    var order = new LifecycleSequence(List.of(part("api")));
    order.start();
    order.stop();

    order.stop();

    assertThat(seen).containsExactly("+api", "-api");
  }

  private LifecyclePart part(String name) {
    return new LifecyclePart(name, () -> seen.add("+" + name), () -> seen.add("-" + name));
  }
}
