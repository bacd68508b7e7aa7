package dev.activator.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.BackendSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import dev.activator.revision.PodListing;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ProbeAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

class BackendUpdatesTest {
  private static final RevisionId A = new RevisionId("ns", "a");
  private static final RevisionId B = new RevisionId("ns", "b");

  /** Asks for as much as it is told to. */
  static final class Reader extends BaseSubscriber<HealthyDestinations> {
    final List<HealthyDestinations> read = new ArrayList<>();

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // Nothing yet.
    }

    @Override
    protected void hookOnNext(HealthyDestinations now) {
      read.add(now);
    }
  }

  private final VirtualLoop loop = new VirtualLoop();
  private final RevisionBackendsManager backends = new RevisionBackendsManager(id -> loop, loop,
      (on, request, done) -> on.execute(() -> done.accept(new ProbeAnswer.Answered(200, "queue"))),
      BackendSettings.DEFAULT, new Random(1));
  private final Reader reader = new Reader();

  private void list(RevisionId id, int count) {
    backends.revision(Revision.of(id, 1));
    backends.listed(new PodListing(id, new Listing(pods(count), Destinations.NONE), Listing.NONE));
    loop.advance(Duration.ofSeconds(1));
  }

  private static Destinations pods(int count) {
    return Destinations.of(IntStream.rangeClosed(1, count)
        .mapToObj(i -> new Destination("10.0.0." + i, 8012)).toList());
  }

  private static HealthyDestinations serving(RevisionId id, int count) {
    return HealthyDestinations.pods(id, pods(count));
  }

  private void subscribe(long demand) {
    BackendUpdates.of(backends).subscribe(reader);
    reader.request(demand);
    loop.run();
  }

  @Test
  void beginsWithWhatHoldsAndGoesOnWithChanges() {
    list(A, 1);
    subscribe(Long.MAX_VALUE);
    list(B, 1);
    list(A, 0);

    assertThat(reader.read).containsExactly(serving(A, 1), serving(B, 1), serving(A, 0));
  }

  @Test
  void aSlowReaderGetsTheLatestOfEachRevision() {
    subscribe(1);
    list(A, 1);
    list(A, 2);
    list(B, 1);
    list(A, 3);
    assertThat(reader.read).containsExactly(serving(A, 1));

    reader.request(10);

    assertThat(reader.read).containsExactly(serving(A, 1), serving(A, 3), serving(B, 1));
  }

  @Test
  void endsWhenNobodyReads() {
    subscribe(Long.MAX_VALUE);
    reader.cancel();
    list(A, 1);

    assertThat(reader.read).isEmpty();
  }
}
