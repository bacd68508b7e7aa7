package dev.activator.lifecycle;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the process: gracefully at the first signal or failure, at once at the second signal.
 *
 * <p><b>Threads.</b> Any may call.
 *
 * <p><b>Errors.</b> The exit code is 0 after a signal, and 1 after a failure, a signal while the start
 * waits for the cluster, or a second signal.
 *
 * <p><b>Source.</b> {@code signals.NewContext} of {@code knative.dev/pkg}, and {@code
 * cmd/activator/main.go}, which exits with 0 even after a listener failed.
 */
public final class Shutdown {
  private static final Logger log = LoggerFactory.getLogger(Shutdown.class);
  private static final List<String> SIGNALS = List.of("TERM", "INT");

  private enum Phase {
    STARTING,
    RUNNING,
    FAILING,
    ENDING,
    /** A signal came after a failure. */
    ENDING_FAILED;

    private Phase signalled() {
      return this == FAILING || this == ENDING_FAILED ? ENDING_FAILED : ENDING;
    }

    private boolean isEnding() {
      return this == ENDING || this == ENDING_FAILED;
    }
  }

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.STARTING);
  private final IntConsumer exit;
  private final IntConsumer halt;
  private volatile Runnable unready = () -> {
  };
  /** Guarded by this. */
  private @Nullable Thread waiting;

  /**
   * @param exit begins a graceful shutdown with an exit code, and returns immediately
   * @param halt ends the process at once
   */
  public Shutdown(IntConsumer exit, IntConsumer halt) {
    this.exit = exit;
    this.halt = halt;
  }

  /**
   * Runs a wait for the cluster, which a signal may interrupt. The rest of the start is short, so
   * it is not interrupted.
   *
   * @throws InterruptedException on a signal to end
   */
  public void during(LifecyclePart.Start wait) throws Exception {
    waits(Thread.currentThread());
    try {
      wait.run();
    } finally {
      waits(null);
    }
  }

  private synchronized void waits(@Nullable Thread thread) throws InterruptedException {
    boolean ending = phase.get().isEnding();
    // A thread that does not begin to wait must not be interrupted later.
    waiting = ending ? null : thread;
    if (ending) {
      // An interrupt that came after the wait must not affect later calls.
      var _ = Thread.interrupted();
      throw new InterruptedException("received a signal to end while still starting");
    }
  }

  private synchronized void interruptWait() {
    if (waiting != null) {
      waiting.interrupt();
    }
  }

  /**
   * Call at the end of the start. Ends the process if a signal or a failure came during the start.
   *
   * @param unready called first in a graceful shutdown
   */
  public void running(Runnable unready) {
    this.unready = unready;
    if (!phase.compareAndSet(Phase.STARTING, Phase.RUNNING)) {
      endInOrder();
    }
  }

  private void endInOrder() {
    unready.run();
    var now = phase.get();
    exit.accept(now == Phase.FAILING || now == Phase.ENDING_FAILED ? 1 : 0);
  }

  public void signal(String name) {
    switch (phase.getAndUpdate(Phase::signalled)) {
      case STARTING -> {
        log.info("Received SIG{} while still starting: ending", name);
        interruptWait();
      }
      case RUNNING -> {
        log.info("Received SIG{}: shutting down", name);
        endInOrder();
      }
      // A graceful shutdown has begun because of a failure; only the next signal counts as a second
      // one.
      case FAILING -> {
        log.info("Received SIG{} while already ending", name);
        interruptWait();
      }
      case ENDING, ENDING_FAILED -> {
        log.error("Received a second signal, SIG{}: exiting at once", name);
        halt.accept(1);
      }
    }
  }

  public void failed(String what) {
    if (phase.compareAndSet(Phase.STARTING, Phase.FAILING)) {
      log.error("{}; shutting down once the start is complete", what);
    } else if (phase.compareAndSet(Phase.RUNNING, Phase.FAILING)) {
      log.error("{}; shutting down", what);
      endInOrder();
    }
  }

  /**
   * Handles signals instead of the Java runtime, whose handler sets no exit code and ignores a
   * second signal. Uses reflection, because the compiler always warns about {@code sun.misc}.
   */
  public void handleSignals() {
    try {
      var signal = Class.forName("sun.misc.Signal");
      var handlerType = Class.forName("sun.misc.SignalHandler");
      for (var name : SIGNALS) {
        var handler = Proxy.newProxyInstance(Shutdown.class.getClassLoader(),
            new Class<?>[]{handlerType}, (self, method, arguments) -> switch (method.getName()) {
              case "handle" -> {
                signal(name);
                yield null;
              }
              case "equals" -> self == arguments[0];
              case "hashCode" -> System.identityHashCode(self);
              default -> name;
            });
        signal.getMethod("handle", signal, handlerType).invoke(null,
            signal.getConstructor(String.class).newInstance(name), handler);
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      log.info("Cannot handle signals, so the Java runtime handles them: {}", e.toString());
    }
  }
}
