package dev.activator.console;

import dev.activator.console.Overview.Waiting;
import dev.activator.console.policy.Diagnosis;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Asks the stages why requests wait.
 *
 * <p>
 * <b>Threads.</b> Any thread may ask, and none waits: what is known of a revision is taken in one
 * task on its own loop, where nothing of it changes meanwhile.
 */
public final class Inspector {
  private final Stages stages;

  public Inspector(Stages stages) {
    this.stages = stages;
  }

  /** Why requests of this revision wait, which may not exist. */
  public CompletableFuture<RevisionReport> revision(RevisionId id) {
    var found = CompletableFuture.supplyAsync(() -> find(id), stages.loops().apply(id));
    return found.thenCombine(stages.link().get(),
        (what, link) -> what == null
            ? Reports.unknown(id)
            : Reports.of(what, link, stages.api().get()));
  }

  /** For which revisions requests wait, and why. */
  public CompletableFuture<Overview> overview() {
    var ids = stages.throttler().revisions();
    var found = new ConcurrentLinkedQueue<Findings>();
    var looks = new ArrayList<CompletableFuture<?>>();
    byLoop(ids).forEach(
        (loop, its) -> looks.add(CompletableFuture.runAsync(() -> look(its, found), loop)));
    return CompletableFuture.allOf(looks.toArray(CompletableFuture<?>[]::new))
        .thenCombine(stages.link().get(),
            (_, link) -> overview(ids.size(), List.copyOf(found), link));
  }

  private Map<Loop, List<RevisionId>> byLoop(Iterable<RevisionId> ids) {
    var byLoop = new IdentityHashMap<Loop, List<RevisionId>>();
    ids.forEach(id -> byLoop.computeIfAbsent(stages.loops().apply(id), _ -> new ArrayList<>())
        .add(id));
    return byLoop;
  }

  private void look(List<RevisionId> ids, ConcurrentLinkedQueue<Findings> found) {
    for (var id : ids) {
      var view = stages.throttler().view(id);
      if (view != null && view.queued() > 0) {
        var what = find(id);
        if (what != null) {
          found.add(what);
        }
      }
    }
  }

  /** On the revision's loop. */
  private @Nullable Findings find(RevisionId id) {
    var queue = stages.throttler().inspect(id);
    return queue == null ? null : new Findings(id, stages.backends().view(id), queue);
  }

  private Overview overview(int revisions, List<Findings> found, AutoscalerLink.View link) {
    var api = stages.api().get();
    int queued = found.stream().mapToInt(one -> one.queue().now().queued()).sum();
    var waiting = found.stream()
        .sorted(Comparator.comparing(one -> one.queue().now().oldestWait().negated()))
        .limit(Overview.LONGEST).map(one -> waiting(one, link, api)).toList();
    return new Overview(summary(queued, found.size(), link, api), revisions, queued, waiting,
        Reports.link(link), api);
  }

  private static Waiting waiting(Findings one, AutoscalerLink.View link, ApiState api) {
    var diagnosis = Diagnosis.of(one.situation(link, api));
    var now = one.queue().now();
    return new Waiting(one.revision().toString(), diagnosis.state(), now.queued(),
        Reports.seconds(now.oldestWait()), diagnosis.summary());
  }

  private static String summary(int queued, int revisions, AutoscalerLink.View link, ApiState api) {
    var text = new StringBuilder(queued == 0
        ? "No request waits"
        : queued + (queued == 1 ? " request waits" : " requests wait") + " for " + revisions
            + (revisions == 1 ? " revision" : " revisions"));
    text.append("; the autoscaler link is ").append(link.connected()
        ? "up"
        : "down (" + Objects.requireNonNullElse(link.problem(), "not open yet") + ")");
    if (!api.synced()) {
      text.append("; not everything was heard yet of what the Kubernetes API has");
    } else if (!api.problems().isEmpty()) {
      text.append("; news from the Kubernetes API may be missing: ")
          .append(String.join("; ", api.problems()));
    }
    return text.append('.').toString();
  }
}
