package dev.activator.ext.picker;

import static dev.activator.ext.picker.EnvoyMessages.get;
import static dev.activator.ext.picker.EnvoyMessages.responseHeaders;
import static dev.activator.ext.picker.PickerScene.WEB;
import static dev.activator.ext.picker.PickerScene.pods;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PermitLending;
import dev.activator.ext.picker.PickerScene.Gateway;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.testing.Make;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three pickers that lend each other permits, and four pods that take one request each. */
@Tag("simulation")
class PickersShareALimitTest {
  private static final int PICKERS = 3;
  private static final int PODS = 4;
  private static final int REQUESTS = 300;
  private static final Duration DELAY = Duration.ofMillis(1);
  private static final List<PeerId> IDS = IntStream.rangeClosed(1, PICKERS)
      .mapToObj(i -> new PeerId("10.9.9." + i, "p" + i)).toList();
  private static final List<String> ADDRESSES = IDS.stream().map(PeerId::address).toList();

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<PermitLending> lending = new ArrayList<>();
  private final List<PickerScene> pickers = new ArrayList<>();
  private final List<Gateway> open = new ArrayList<>();

  private void start(long seed) {
    for (int i = 0; i < PICKERS; i++) {
      int own = i;
      var its = new PermitLending(ADDRESSES.get(i));
      lending.add(its);
      its.start(loop, (to, message) -> loop.schedule(DELAY,
          () -> lending.get(IDS.indexOf(to)).onReceived(IDS.get(own), message)));
      pickers.add(new PickerScene(loop, Revision.of(WEB, 1), 2,
          revisions -> Make.throttler(revisions.live, ADDRESSES.get(own),
              ThrottlerOptions.of(10_000), new Random(seed), its)));
    }
    for (int i = 0; i < PICKERS; i++) {
      lending.get(i).onActivators(Set.copyOf(ADDRESSES));
      for (int other = 0; other < PICKERS; other++) {
        if (other != i) {
          lending.get(i).onConnected(IDS.get(other));
        }
      }
      pickers.get(i).throttler
          .onPublicAddresses(new PublicEndpointAddresses(WEB, ADDRESSES, List.of()));
      pickers.get(i).has(pods(PODS));
    }
    loop.advance(Duration.ofSeconds(3));
  }

  @Test
  void neverTwoRequestsAtAPod() {
    Seeds.each(seed -> new PickersShareALimitTest().run(seed));
  }

  private void run(long seed) {
    var random = new Random(seed);
    start(seed);
    for (int i = 0; i < REQUESTS; i++) {
      open.add(pickers.get(random.nextInt(PICKERS)).open(get()));
      loop.advance(Duration.ofMillis(random.nextInt(8)));
      check();
      while (open.size() > random.nextInt(12)) {
        end(open.remove(random.nextInt(open.size())), random);
        check();
      }
    }
    for (int second = 0; second < 60 && !open.isEmpty(); second++) {
      List.copyOf(open).stream().filter(one -> !one.waits()).forEach(one -> {
        open.remove(one);
        end(one, random);
      });
      loop.advance(Duration.ofSeconds(1));
      check();
    }
    assertThat(open).isEmpty();
  }

  private void end(Gateway one, Random random) {
    if (one.waits() || random.nextInt(4) == 0) {
      one.cancel();
    } else {
      one.send(responseHeaders(200, true));
      one.halfClose();
    }
  }

  private void check() {
    var running = open.stream().filter(one -> !one.waits()).map(Gateway::pod).toList();
    assertThat(running).doesNotHaveDuplicates();
  }

  @Test
  void theLimitHoldsAgainAfterAGatewayHasTakenOtherPods() {
    start(1);
    for (int i = 0; i < 20; i++) {
      var gateway = pickers.get(i % PICKERS).open(get());
      loop.advance(Duration.ofMillis(10));
      gateway.send(EnvoyMessages.servedBy(PickerScene.pod(1 + i % PODS).toString()));
      loop.advance(Duration.ofMillis(10));
      gateway.send(EnvoyMessages.responseBody("", true));
      loop.advance(Duration.ofSeconds(1));
    }
    for (int i = 0; i < PODS + 2; i++) {
      open.add(pickers.get(i % PICKERS).open(get()));
    }
    loop.advance(Duration.ofSeconds(1));

    check();
    assertThat(open).filteredOn(Gateway::waits).hasSize(2);
  }

  /** Two round trips are four times the delay of a message. */
  @Test
  void aRequestWaitsAtMostTwoRoundTripsForAnIdlePodOfAnotherPicker() {
    start(1);
    for (int i = 0; i < PODS; i++) {
      var gateway = pickers.getFirst().open(get());
      loop.advance(DELAY.multipliedBy(4));
      assertThat(gateway.waits()).as("request %d", i).isFalse();
    }
  }
}
