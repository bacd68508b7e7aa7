package dev.activator.cluster.endpoints;

import dev.activator.cluster.KubernetesSession;
import dev.activator.cluster.policy.IpFamily;
import dev.activator.cluster.policy.SourceChoice.Found;
import dev.activator.revision.RevisionId;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Reads addresses from one kind of object. Where the kind is ours to choose it looks again whether
 * EndpointSlices can be listed, and reads from the other kind once that has told everything: until
 * then what was said before holds.
 *
 * <p>
 * <b>Threads.</b> The first is begun before any is told; all else happens where all is told.
 */
public final class AddressFeed {
  private static final Logger log = LoggerFactory.getLogger(AddressFeed.class);

  private final SourceQuestion question;
  private final IpFamily preferred;
  private final Duration lookAgain;
  private final Function<RevisionId, String> uids;
  private final EndpointsEvents news;
  private volatile @Nullable Begun current;
  /** What is to take over; null while nothing is. */
  private @Nullable Begun next;
  private volatile boolean closed;

  /** A kind of object that is listened to, and the slices if it is these. */
  private record Begun(Reading reading, @Nullable EndpointSliceAggregator slices,
      KubernetesSession.Followed followed) {}

  public AddressFeed(AddressSource from, Function<RevisionId, String> uids, EndpointsEvents news) {
    this.question = new SourceQuestion(from.source());
    this.preferred = from.preferred();
    this.lookAgain = from.lookAgain();
    this.uids = uids;
    this.news = news;
  }

  /** Why it cannot be told now what to read, in a line; null once it can. */
  public @Nullable String problem(KubernetesClient client) {
    return question.problem(client);
  }

  /** Begins to read. */
  public KubernetesSession.Followed begin(KubernetesSession lookout) {
    var reading = new Reading(question.answer(), news::changed);
    reading.believe();
    var first = begin(reading, lookout);
    current = first;
    return first.followed();
  }

  private Begun begin(Reading reading, KubernetesSession lookout) {
    return switch (reading.choice().kind()) {
      case SLICES -> {
        var slices = new EndpointSliceAggregator(preferred, uids, reading);
        yield new Begun(reading, slices, lookout.begin(SourceQuestion.SLICES, slices));
      }
      case ENDPOINTS -> new Begun(reading, null, lookout.begin(SourceQuestion.ENDPOINTS, reading));
    };
  }

  /** The revision of this name is another one now: what was listed for the one before is not its. */
  public void madeAnew(RevisionId revision) {
    madeAnew(current, revision);
    madeAnew(next, revision);
  }

  private static void madeAnew(@Nullable Begun begun, RevisionId revision) {
    if (begun != null && begun.slices() != null) {
      begun.slices().madeAnew(revision);
    }
  }

  /** From now on it looks again, if it may choose and that can change anything. */
  public void keepLooking(KubernetesSession lookout) {
    var now = current;
    if (question.isOpen() && !closed && now != null && now.reading().choice().mayChange()) {
      lookout.telling().schedule(lookAgain, () -> look(lookout));
    }
  }

  /** It looks no more. */
  public void close() {
    closed = true;
  }

  private void look(KubernetesSession lookout) {
    CompletableFuture.supplyAsync(() -> SourceQuestion.slices(lookout.client()), lookout.tasks())
        .whenComplete((found, unknown) -> lookout.telling().execute(() -> {
          if (found != null) {
            found(found, lookout);
          }
          keepLooking(lookout);
        }));
  }

  private void found(Found slices, KubernetesSession lookout) {
    var now = current;
    if (now == null) {
      return;
    }
    var choice = now.reading().choice().after(slices);
    boolean same = choice.kind() == now.reading().choice().kind();
    if (same && next != null) {
      lookout.end(next.followed());
      next = null;
    } else if (!same && next == null) {
      var begun = begin(new Reading(choice, news::changed), lookout);
      next = begun;
      begun.followed().told().thenRun(() -> takeOver(begun, now, lookout));
    }
  }

  private void takeOver(Begun begun, Begun last, KubernetesSession lookout) {
    if (next != begun) {
      return;
    }
    var choice = begun.reading().choice();
    log.atLevel(choice.barred() ? Level.WARN : Level.INFO)
        .log("Pods are read from {} from now on: {}", choice.kind(), choice.reason());
    last.reading().doubt();
    begun.reading().believe();
    current = begun;
    next = null;
    news.replaced(last.reading().said(), begun.reading().said());
    lookout.replace(last.followed(), begun.followed());
  }
}
