package dev.activator.testing;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.loop.Loop;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The revisions that exist, in a test without a cluster. */
public final class TestRevisions {
  public final LiveRevisions live;

  public TestRevisions(Function<RevisionId, ? extends Loop> loops, Revision... all) {
    live = new LiveRevisions(loops);
    Stream.of(all).forEach(this::put);
  }

  public TestRevisions(Loop loop, Revision... all) {
    this(_ -> loop, all);
  }

  /** Of a cluster whose revisions no part uses. */
  public static LiveRevisions unused() {
    return new TestRevisions(new VirtualLoop()).live;
  }

  /** Notices the end of each revision that a cluster reports. */
  public static void onEnd(ClusterWatcher cluster, Consumer<RevisionId> listener) {
    var known = cluster.live().declare("test", LiveRevision::id, listener);
    cluster.revisions().subscribe("test", now -> now.slot(known));
  }

  public LiveRevision put(Revision now) {
    return live.update(now);
  }

  public void remove(RevisionId id) {
    live.end(id);
  }

  /** As a request was routed to it: one that has ended, unless it exists. */
  public LiveRevision of(RevisionId id) {
    var known = live.find(id);
    return known == null ? ended(Revision.of(id, 1)) : known;
  }

  /** One that exists from now on. */
  public LiveRevision begun(RevisionId id) {
    var known = live.find(id);
    return known == null ? put(Revision.of(id, 1)) : known;
  }

  /** One of which nothing else is known. */
  public static LiveRevision alone(Revision revision) {
    return new TestRevisions(new VirtualLoop()).put(revision);
  }

  private static LiveRevision ended(Revision revision) {
    var all = new TestRevisions(new VirtualLoop());
    var ended = all.put(revision);
    all.remove(revision.id());
    return ended;
  }

  public @Nullable Revision get(RevisionId id) {
    return live.spec(id);
  }

  public Set<RevisionId> ids() {
    return live.all().map(LiveRevision::id).collect(Collectors.toSet());
  }
}
