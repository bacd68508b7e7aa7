package dev.activator.cluster.faults;

import dev.activator.cluster.Rig;
import org.jspecify.annotations.Nullable;

/**
 * The rig of one test. Whatever fails, its store is a fresh list in the end, and its witness was told
 * nothing that is not so.
 */
final class Rigs implements AutoCloseable {
  private @Nullable Rig rig;

  Rig use(Rig fresh) {
    rig = fresh;
    return fresh;
  }

  /** With a and b told, and a watch on. */
  Rig following() {
    return following(new Rig());
  }

  /** The same with this one. */
  Rig following(Rig fresh) {
    var following = use(fresh);
    following.touch("a");
    following.touch("b");
    following.start();
    following.witness.told.clear();
    return following;
  }

  @Override
  public void close() {
    if (rig != null) {
      rig.close();
    }
  }
}
