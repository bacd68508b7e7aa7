package dev.activator.ext.wakewith;

import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.ext.wakewith.SpeculativeStarts.Result;
import dev.activator.ext.wakewith.policy.WakeWithNames;
import java.util.List;
import java.util.Map;
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

  private final SpeculativeStarts starts;
  private final Function<RevisionId, @Nullable RevisionId> resolve;
  private final Consumer<RevisionId> onStarted;
  private final Map<RevisionId, Named> named = new ConcurrentHashMap<>();

  /** @param missing names without a revision that have already been logged */
  private record Named(String text, List<RevisionId> names, Set<RevisionId> missing) {}

  /**
   * @param resolve returns the revision that a name stands for at the moment; null if there is none
   * @param onStarted called on the loop of {@code starts} with each revision that was started
   */
  public WakeWithStarter(SpeculativeStarts starts,
      Function<RevisionId, @Nullable RevisionId> resolve,
      Consumer<RevisionId> onStarted) {
    this.onStarted = onStarted;
    this.starts = starts;
    this.resolve = resolve;
  }

  /** Call when a revision was created or changed. Its invalid names are logged once. */
  public void onRevision(Revision now) {
    var text = now.annotations().get(WakeWithNames.ANNOTATION);
    var known = named.get(now.id());
    if (text == null) {
      if (known != null) {
        named.remove(now.id());
      }
    } else if (known == null || !known.text.equals(text)) {
      var names = WakeWithNames.parse(text, now.id().namespace(),
          problem -> log.warn("{}: annotation {}: {}; it is ignored", now.id(),
              WakeWithNames.ANNOTATION, problem));
      named.put(now.id(), new Named(text, names, ConcurrentHashMap.newKeySet()));
    }
  }

  public void onRevisionEnd(RevisionId id) {
    named.remove(id);
  }

  /** Call when the first request is queued for a start of this revision. */
  public void onStart(RevisionId id) {
    if (named.containsKey(id)) {
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
    var here = named.get(id);
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
    var here = named.get(id);
    return here == null
        ? List.of()
        : here.names.stream()
            .map(name -> resolve.apply(name) == null ? name + " (does not exist)" : name.toString())
            .toList();
  }
}
