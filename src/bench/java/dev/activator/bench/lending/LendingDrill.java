package dev.activator.bench.lending;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.bench.Drill;
import dev.activator.bench.Measurement;
import dev.activator.testing.activators.Callers.Wait;
import dev.activator.testing.activators.Callers;
import dev.activator.testing.activators.SharedRevision.Activator;
import dev.activator.testing.activators.SharedRevision;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;
import org.slf4j.LoggerFactory;

/**
 * What callers wait beside idle pods that belong to other activators, whether a pod ever gets more than one request at
 * once, and what is lost when an activator is killed or replaced. {@code bench/drills/lending} runs it.
 */
public final class LendingDrill extends Drill {
  private static final int PODS = 8;
  private static final int SMALL_PODS = 2;
  private static final Duration WARM_UP = Duration.ofSeconds(10);
  private static final Duration LOAD = Duration.ofSeconds(5);
  /** Until pods of an activator that was killed are used again. */
  private static final Duration RECOVERY = Duration.ofSeconds(45);
  /** In which load balancers learn of a change. */
  private static final Duration BALANCERS = Duration.ofMillis(500);

  private final Path program;
  private final Duration measured;

  private LendingDrill(Path program, Duration measured) {
    this.program = program;
    this.measured = measured;
  }

  /** @param args a folder or a jar, then seconds for each row, then the parts */
  public static void main(String[] args) {
    // Connections that are reset are part of it.
    ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
    Measurement.checkAndExit(() -> new LendingDrill(Path.of(args[0]).toAbsolutePath(),
        Duration.ofSeconds(Long.parseLong(args[1])))
        .run(List.of(args).subList(2, args.length)));
  }

  private boolean run(List<String> parts) throws Exception {
    System.out.println("| activators, lending | pods, callers | requests | wait in ms: median"
        + " | 99th percentile | longest | at once at a pod | lost | |");
    System.out.println("|---|---|---|---|---|---|---|---|---|");
    for (var part : parts) {
      switch (part) {
        case "beside" -> {
          for (int pods : List.of(PODS, SMALL_PODS)) {
            beside(1, "on", pods);
            beside(2, "on", pods);
            beside(2, "off", pods);
            beside(3, "on", pods);
            beside(3, "off", pods);
          }
        }
        case "first" -> {
          firstPod("on");
          firstPod("off");
        }
        case "kill" -> {
          kill(2, "all callers at one, another is killed", 1, _ -> 0);
          kill(2, "all callers at one, that is killed", 0, _ -> 0);
          kill(3, "callers at all, one is killed", 0, number -> number);
        }
        case "roll" -> {
          replace(2, program, program, "all callers at one, both are replaced", _ -> 0);
          replace(3, program, program, "callers at all, all are replaced", number -> number);
        }
        case "upgrade" -> {
          var former = Path.of(System.getenv("FORMER")).toAbsolutePath();
          replace(2, former, program, "all callers at one, both are upgraded", _ -> 0);
          replace(3, former, program, "callers at all, all are upgraded", number -> number);
          replace(3, program, former, "callers at all, all are rolled back", number -> number);
        }
        default -> throw new IllegalArgumentException(
            part + " is none of beside, first, kill, roll and upgrade");
      }
    }
    return isPassed();
  }

  private SharedRevision revision(String mode, int pods) throws Exception {
    return new SharedRevision(program, List.of("-Dactivator.lending.mode=" + mode), pods);
  }

  /** As many callers as pods, so that a pod is idle whenever a request comes. */
  private void beside(int activators, String mode, int pods) throws Exception {
    try (var revision = revision(mode, pods)) {
      var first = revision.start(activators).getFirst();
      try (var callers = new Callers(pods, _ -> first)) {
        pause(WARM_UP);
        long begun = System.nanoTime();
        pause(measured);
        print(activators + ", " + mode, pods, pods, callers, begun, revision,
            "all callers at one activator", mode.equals("on"));
      }
    }
  }

  /** With fewer pods than activators. */
  private void firstPod(String mode) throws Exception {
    try (var revision = revision(mode, 1)) {
      var all = revision.start(2);
      pause(BALANCERS);
      try (var callers = new Callers(2, number -> all.get(number))) {
        pause(WARM_UP);
        long begun = System.nanoTime();
        pause(measured);
        print("2, " + mode, 1, 2, callers, begun, revision, "a caller at each",
            mode.equals("on"));
      }
    }
  }

  /**
   * @param which is killed, by its number
   * @param to which of those that are listed a caller, by its number, sends its requests
   */
  private void kill(int activators, String what, int which, IntUnaryOperator to) throws Exception {
    try (var revision = revision("on", PODS)) {
      var all = revision.start(activators);
      pause(BALANCERS);
      try (var callers = new Callers(PODS,
          number -> target(revision.activators(), to.applyAsInt(number)))) {
        pause(WARM_UP);
        var before = revision.served();
        pause(LOAD);
        check(isRising(before, revision.served()), "not all pods were used");
        long begun = System.nanoTime();
        revision.kill(all.get(which));
        var atKill = revision.served();
        while (!isRising(atKill, revision.served())
            && System.nanoTime() - begun < RECOVERY.toNanos()) {
          pause(Duration.ofMillis(10));
        }
        var recovered = Duration.ofNanos(System.nanoTime() - begun);
        check(isRising(atKill, revision.served()), "not all pods are used again");
        pause(LOAD);
        print(activators + ", on", PODS, PODS, callers, begun, revision,
            String.format(Locale.ROOT, "%s: all pods used after %.1f s, %d requests ended with it",
                what, recovered.toMillis() / 1e3, callers.inKilled()),
            true);
      }
    }
  }

  /** One activator after the other is replaced. All pods must be used at each step. */
  private void replace(int activators, Path before, Path after, String what, IntUnaryOperator to)
      throws Exception {
    try (var revision = revision("on", PODS)) {
      revision.start(before, activators);
      pause(BALANCERS);
      var targets = new AtomicReference<>(revision.activators());
      try (
          var callers = new Callers(PODS, number -> target(targets.get(), to.applyAsInt(number)))) {
        pause(WARM_UP);
        long begun = System.nanoTime();
        for (var old : revision.activators()) {
          revision.start(after, 1);
          pause(BALANCERS);
          targets.set(revision.activators().stream().filter(it -> it != old).toList());
          revision.terminate(old);
          check(revision.exitCode(old) == 0, "an activator did not end with 0");
          var served = revision.served();
          pause(LOAD);
          check(isRising(served, revision.served()), "not all pods were used");
        }
        print(activators + ", on", PODS, PODS, callers, begun, revision, what, true);
      }
    }
  }

  private static Activator target(List<Activator> listed, int number) {
    return listed.get(number % listed.size());
  }

  private static boolean isRising(List<Integer> before, List<Integer> now) {
    for (int i = 0; i < before.size(); i++) {
      if (now.get(i) <= before.get(i)) {
        return false;
      }
    }
    return true;
  }

  /** @param isExact whether the limit must have been kept */
  private void print(String activators, int pods, int callers, Callers calls, long begun,
      SharedRevision revision, String note, boolean isExact) {
    var waits = calls.waitsSince(begun).stream().mapToLong(Wait::nanos).sorted().toArray();
    System.out.printf(Locale.ROOT, "| %s | %d, %d | %d | %.1f | %.1f | %.1f | %d | %d | %s |%n",
        activators, pods, callers, waits.length, millis(waits, 0.5), millis(waits, 0.99),
        millis(waits, 1), revision.highestConcurrency(), calls.lost().size(), note);
    calls.lost().stream().limit(5).forEach(System.out::println);
    check(calls.lost().isEmpty(), "requests were lost");
    check(!isExact || revision.highestConcurrency() <= 1, "a pod had more than its limit");
  }

  private static void pause(Duration time) {
    LockSupport.parkNanos(time.toNanos());
  }
}
