package dev.activator.embedded.runtime;

import dev.activator.embedded.LoopbackPorts;
import dev.activator.embedded.Sockets;
import dev.activator.embedded.runtime.policy.LocalRevision;
import dev.activator.embedded.runtime.process.HelloProcess;
import dev.activator.embedded.runtime.process.LocalProcess;
import dev.activator.embedded.runtime.process.ProcessSpec;
import dev.activator.embedded.runtime.process.UserProcess;
import dev.activator.embedded.runtime.serving.Names;
import dev.activator.embedded.runtime.serving.ServingController;
import dev.activator.embedded.runtime.sidecar.Sidecar;
import dev.activator.embedded.runtime.sidecar.SidecarSettings;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import java.util.random.RandomGenerator;

/** Makes pods: a name, a port for the process, a sidecar on one of the event loops. */
final class PodFactory {
  private static final String LETTERS = "bcdfghjklmnpqrstvwxz2456789";
  private static final int SUFFIX_LENGTH = 5;

  private final Loop loop;
  private final Sockets sockets;
  private final RandomGenerator random;
  private final LoopbackPorts ports;
  private long made;

  PodFactory(Loop loop, Sockets sockets, RandomGenerator random, LoopbackPorts ports) {
    this.loop = loop;
    this.sockets = sockets;
    this.random = random;
    this.ports = ports;
  }

  /** Where pods live. */
  Loop loop() {
    return loop;
  }

  /**
   * A pod that was not started yet.
   *
   * <p>
   * <b>Errors.</b> Throws as {@link LoopbackPorts#next} does.
   */
  LocalPod make(LocalRevision revision, LocalPod.Listener listener) {
    var spec = new ProcessSpec(revision, name(revision), ports.next());
    var settings = new SidecarSettings(spec.pod(), spec.port(), revision.containerConcurrency(),
        revision.probe());
    var sidecar = new Sidecar(sockets, new NettyLoop(sockets.loops().next()), ports, settings);
    return new LocalPod(loop, made++, spec, sidecar, starter(revision), listener);
  }

  private UserProcess.Starter starter(LocalRevision revision) {
    var container = revision.container();
    boolean sample = container.command().isEmpty()
        && container.image().equals(ServingController.SAMPLE_IMAGE);
    return sample ? HelloProcess.on(loop) : LocalProcess.on(loop);
  }

  private String name(LocalRevision revision) {
    var name = new StringBuilder(Names.deployment(revision.id().name())).append('-');
    for (int i = 0; i < SUFFIX_LENGTH; i++) {
      name.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    }
    return name.toString();
  }
}
