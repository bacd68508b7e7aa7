package dev.activator.ext.wakewith;

import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.ext.wakewith.PrewarmStarts.Result;
import dev.activator.ext.wakewith.policy.WakeWithNames;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When requests start a revision, starts the revisions that its annotation
 * {@code activator.dev/wake-with} names.
 *
 * <p><b>Threads.</b> Any.
 */
public final class WakeWithStarter {
  private static final Logger log = LoggerFactory.getLogger(WakeWithStarter.class);

  private final PrewarmStarts starts;
  private final Function<RevisionId, @Nullable RevisionId> resolve;
  private final Consumer<RevisionId> onStarted;
  private final LiveRevisions revisions;
  private final Slot<Named> named;

  /** @param missing names without a revision that have already been logged */
  private record Named(String text, List<RevisionId> names, Set<RevisionId> missing) {}

  /**
   * @param resolve returns the revision that a name stands for at the moment; null if there is none
   * @param onStarted called on the loop of {@code starts} with each revision that was started
   */
  public WakeWithStarter(LiveRevisions revisions, PrewarmStarts starts,
      Function<RevisionId, @Nullable RevisionId> resolve, Consumer<RevisionId> onStarted) {
    this.revisions = revisions;
    this.named = revisions.declare("wake-with", now -> parse(now.spec()));
    this.onStarted = onStarted;
    this.starts = starts;
    this.resolve = resolve;
  }

  /** Call when a revision was created or changed. Its invalid names are logged once. */
  public void onRevision(LiveRevision now) {
    var text = now.spec().annotations().get(WakeWithNames.ANNOTATION);
    var known = now.peek(named);
    if (known != null && !known.text.equals(text)) {
      now.clear(named);
    }
    if (text != null) {
      var _ = now.slot(named);
    }
  }

  private static Named parse(Revision now) {
    var text = now.annotations().getOrDefault(WakeWithNames.ANNOTATION, "");
    var names = WakeWithNames.parse(text, now.id().namespace(),
        problem -> log.warn("{}: annotation {}: {}; it is ignored", now.id(),
            WakeWithNames.ANNOTATION, problem));
    return new Named(text, names, ConcurrentHashMap.newKeySet());
  }

  /** Call when the first request is queued for a start of this revision. */
  public void onStart(RevisionId id) {
    if (revisions.peek(id, named) != null) {
      starts.loop().execute(() -> wake(id));
    }
  }

  private void wake(RevisionId id) {
    // If the revision was started ahead of its requests, those that it names were started with it.
    if (starts.isUnderWay(id)) {
      return;
    }
    for (var one : WakeWithNames.closure(id, this::next)) {
      if (starts.start(one, id + " started, which wakes it") == Result.STARTED) {
        onStarted.accept(one);
      }
    }
  }

  private List<RevisionId> next(RevisionId id) {
    var here = revisions.peek(id, named);
    return here == null
        ? List.of()
        : here.names.stream().map(name -> find(id, here, name)).filter(Objects::nonNull).toList();
  }

  private @Nullable RevisionId find(RevisionId id, Named here, RevisionId name) {
    var found = resolve.apply(name);
    if (found != null) {
      here.missing.remove(name);
    } else if (here.missing.add(name)) {
      log.warn("{}: annotation {}: there is no revision, Service or ScaledService {}", id,
          WakeWithNames.ANNOTATION, name);
    }
    return found;
  }

  /** The names that start with this revision, each with a remark if it does not exist. */
  public List<String> names(RevisionId id) {
    var here = revisions.peek(id, named);
    return here == null
        ? List.of()
        : here.names.stream()
            .map(name -> resolve.apply(name) == null ? name + " (does not exist)" : name.toString())
            .toList();
  }
}
