package dev.activator.testing.faults;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What undoes faults that are under way. A fault that was healed before it took hold is undone as
 * soon as it does.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. UndoActions run on the thread that heals, or that adds them.
 */
public final class UndoActions {
  private final Set<Runnable> undoActions = new LinkedHashSet<>();
  private boolean healed;

  /** Will undo a fault; returned to be forgotten when the fault is over. */
  public Runnable add(Runnable remedy) {
    boolean late;
    synchronized (this) {
      late = healed;
      if (!late) {
        undoActions.add(remedy);
      }
    }
    if (late) {
      remedy.run();
    }
    return remedy;
  }

  /** The fault is over. */
  public synchronized void forget(Runnable remedy) {
    undoActions.remove(remedy);
  }

  /** There may be faults again. */
  public synchronized void renew() {
    healed = false;
  }

  /** Undoes all, and what is still to come of faults that have hit already. */
  public void heal() {
    List<Runnable> all;
    synchronized (this) {
      healed = true;
      all = new ArrayList<>(undoActions);
      undoActions.clear();
    }
    all.forEach(Runnable::run);
  }
}
