package dev.activator.kube.faults;

import dev.activator.kube.Rig;
import dev.activator.kube.reflector.ReflectorSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The rig of one test. Whatever fails, its store is a fresh list in the end, and its witness was told
 * nothing that is not so.
 */
final class Rigs implements AutoCloseable {
  /** Under load a watch may need longer to open than {@link Rig#QUICK} waits before it lists again. */
  static final ReflectorSettings PATIENT = new ReflectorSettings(Rig.PATIENCE,
      Duration.ofMinutes(3), Duration.ofMinutes(10), Duration.ofMillis(500));

  private @Nullable Rig rig;

  Rig use(Rig fresh) {
    rig = fresh;
    return fresh;
  }

  static Rig patientRig() {
    return new Rig(PATIENT, config -> {
    });
  }

  /** The same as {@link #following()}, for a test that counts lists. */
  Rig patient() {
    return following(patientRig());
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
    following.witness.received.clear();
    return following;
  }

  @Override
  public void close() {
    if (rig != null) {
      rig.close();
    }
  }
}
