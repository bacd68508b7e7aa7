package dev.activator.ext.tcp;

import dev.activator.config.RevisionAnnotations;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The revisions that TLS connections reach by the server name of their first message.
 *
 * <p><b>Threads.</b> Any may call.
 */
final class SniRoutes {
  private final LiveRevisions revisions;
  private final Loop loop;
  private final ResettableTimer stale;
  /** The revisions that have, or had, a server name. */
  private final Slot<LiveRevision> named;
  private volatile Map<String, LiveRevision> byName = Map.of();

  SniRoutes(LiveRevisions revisions, Loop loop) {
    this.revisions = revisions;
    this.loop = loop;
    this.stale = new ResettableTimer(loop, this::replace);
    this.named = revisions.declare("server names", revision -> revision, _ -> change());
  }

  void onRevision(LiveRevision revision) {
    if (!names(revision).isEmpty()) {
      revision.slot(named);
    }
    if (revision.peek(named) != null) {
      change();
    }
  }

  private void change() {
    loop.execute(() -> stale.within(Duration.ZERO));
  }

  private void replace() {
    var now = new HashMap<String, LiveRevision>();
    revisions.all(named).forEach(revision -> {
      for (var name : names(revision)) {
        now.put(name, revision);
      }
    });
    byName = Map.copyOf(now);
  }

  private static List<String> names(LiveRevision revision) {
    var spec = revision.spec();
    var names = spec.annotations().get(RevisionAnnotations.TCP_SNI);
    return names == null || names.isEmpty() || spec.protocol() != PortProtocol.TCP
        ? List.of()
        : List.of(names.split(","));
  }

  /** @param name in lower case */
  @Nullable LiveRevision find(String name) {
    return byName.get(name);
  }
}
