package dev.activator.bench.soak;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.bench.Measurement;
import dev.activator.testing.activators.ActivatorProcess;
import dev.activator.bench.ProcessCost;
import dev.activator.bench.soak.SoakCallers.Ports;
import dev.activator.testing.Authority;
import dev.activator.testing.FreePort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.LoggerFactory;

/**
 * An activator in cluster mode under everything at once: callers of all kinds, pods that are killed, an API and an
 * autoscaler that go away, new settings and certificates, revisions that come and go. Then all callers leave, and at last
 * it drains under a light load.
 * {@code bench/drills/soak} runs it.
 */
public final class SoakDrill {
  private static final Duration SAMPLE_INTERVAL = Duration.ofSeconds(30);
  private static final Duration WARM_UP = Duration.ofSeconds(90);
  /** Idle connections to pods hold descriptors until then: HTTP/1 for 90 s, HTTP/2 for up to twice as long. */
  private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(180);
  private static final Duration REST_INTERVAL = Duration.ofSeconds(15);
  private static final Duration REST_PATIENCE = Duration.ofMinutes(5);
  private static final Duration CALLERS_PATIENCE = Duration.ofMinutes(1);
  private static final Duration BEFORE_DRAIN = Duration.ofSeconds(5);
  /** Shorter than the ports stay open after SIGTERM, for callers that do not know of it yet. */
  private static final Duration REQUESTS_IN_DRAIN = Duration.ofSeconds(35);
  private static final Duration DRAIN_PATIENCE = Duration.ofMinutes(3);
  private static final Duration API_AWAY = Duration.ofSeconds(20);
  private static final Duration AUTOSCALER_AWAY = Duration.ofSeconds(15);

  private final long minutes;
  private final Path program;
  private final double rate = Double.parseDouble(System.getenv().getOrDefault("RATE", "1"));
  private final SoakCluster cluster = new SoakCluster(rate, System.getenv("POD_TLS") != null);
  private final SoakCounts counts = new SoakCounts();
  private final Authority authority = Authority.named("soak");
  private final Path folder = Files.createTempDirectory("soak");
  private final Ports ports = new Ports(FreePort.next(), FreePort.next(), FreePort.next());
  private final int management = FreePort.next();
  private final List<SoakSample> samples = new ArrayList<>();
  private long begunNanos;

  private SoakDrill(long minutes, Path program) throws Exception {
    this.minutes = minutes;
    this.program = program;
  }

  /** @param args minutes, then a folder or a jar */
  public static void main(String[] args) {
    long minutes = Long.parseLong(args[0]);
    // Connections that are reset are part of it.
    ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
    endAtLast(Duration.ofMinutes(minutes + 20));
    Measurement.checkAndExit(
        () -> new SoakDrill(minutes, Path.of(args[1]).toAbsolutePath()).run());
  }

  /** Whatever hangs: the activator ends with this process. */
  private static void endAtLast(Duration limit) {
    Thread.ofPlatform().daemon().start(() -> {
      pause(limit);
      System.err.println("the soak did not end in time");
      Runtime.getRuntime().halt(3);
    });
  }

  private boolean run() throws Exception {
    newCertificate();
    // Among the log's lines, a line of each request would be most of it.
    cluster.configure("config-logging", "loglevel.activator", "warn");
    var callers = new SoakCallers(cluster, counts, ports, rate);
    var process = activator();
    ActivatorProcess.awaitReady(ports.http1(), process);
    // Classes, buffers and caches that the first requests need are no growth.
    phase(callers, () -> pause(WARM_UP));
    begunNanos = System.nanoTime();
    var before = rest(process);
    // Nobody has sent anything since, and what is lost says when it was, from here on.
    cluster.resetCounts();
    counts.reset();
    begunNanos = System.nanoTime();
    long cpu = ProcessCost.cpuMicros(process.pid());
    int cut = phase(callers, () -> load(process));
    double share = (ProcessCost.cpuMicros(process.pid()) - cpu) * 1e5
        / (System.nanoTime() - begunNanos);
    var after = rest(process);
    var report = new SoakReport(before, samples, after, cluster.deleted(),
        new HashSet<>(cluster.revisions()));
    System.out.printf(Locale.ROOT,
        "%n%d minutes at a rate of %.1f: %,d requests, %,d revisions deleted, %d pods killed, %d certificates"
            + " seen, %d callers cut at the end, %.0f %% of a core for the activator%n",
        minutes, rate, counts.total(), cluster.deleted(), cluster.killed(),
        callers.certificates(), cut, share);
    counts.print();
    report.print();
    var failures = new ArrayList<>(report.failures());
    SoakSample.permits(management, new HashSet<>(cluster.revisions()))
        .forEach(permits -> failures.add("at rest " + permits));
    drain(process, callers).ifPresent(failures::add);
    failures.addAll(counts.failures());
    failures.forEach(failure -> System.out.println("FAILED: " + failure));
    System.out.println(failures.isEmpty() ? "passed" : failures.size() + " failures");
    process.destroyForcibly().waitFor();
    return failures.isEmpty();
  }

  /** SIGTERM under a light load. Returns what was wrong, but for lost requests, which are counted. */
  private Optional<String> drain(Process process, SoakCallers callers) throws InterruptedException {
    counts.reset();
    callers.startLightly();
    pause(BEFORE_DRAIN);
    process.destroy();
    pause(REQUESTS_IN_DRAIN);
    int cut = callers.stop(CALLERS_PATIENCE);
    boolean ended = process.waitFor(DRAIN_PATIENCE.toSeconds(), TimeUnit.SECONDS);
    System.out.printf("%ndrained: %,d requests around SIGTERM, %d callers cut, %s%n",
        counts.total(), cut, ended ? "exit code " + process.exitValue() : "still there");
    return ended && process.exitValue() == 0
        ? Optional.empty()
        : Optional.of("it did not end with 0 after SIGTERM");
  }

  private Process activator() throws IOException {
    var flags = new ArrayList<>(List.of("-Dserver.port=" + management,
        "-Dactivator.console.port=" + management,
        "-Dactivator.port.h2c=" + ports.h2c(), "-Dactivator.port.https=" + ports.https(),
        "-Dactivator.tls.certificate=" + folder.resolve("tls.crt"),
        "-Dactivator.tls.key=" + folder.resolve("tls.key"),
        "-Dactivator.endpoints-source=endpointslices"));
    flags.addAll(List.of(System.getenv().getOrDefault("FLAGS", "").split(" ")));
    flags.removeIf(String::isBlank);
    return ActivatorProcess.of(program, flags, cluster.api().kubeconfig(), ports.http1(),
        cluster.autoscalerUrl());
  }

  private void newCertificate() throws Exception {
    var certificate = authority.issue("localhost");
    var chain = folder.resolve("new.crt");
    var key = folder.resolve("new.key");
    certificate.write(chain, key, "PKCS#8");
    Files.move(key, folder.resolve("tls.key"), StandardCopyOption.REPLACE_EXISTING);
    Files.move(chain, folder.resolve("tls.crt"), StandardCopyOption.REPLACE_EXISTING);
  }

  private interface Load {
    void run() throws IOException;
  }

  /** Callers and disturbances during this time; returns how many callers had to be cut at its end. */
  private int phase(SoakCallers callers, Load load) throws IOException, InterruptedException {
    var disturbances = new Disturbances();
    callers.start();
    disturbances.start();
    load.run();
    disturbances.stop();
    int cut = callers.stop(CALLERS_PATIENCE);
    callers.restore();
    return cut;
  }

  private interface Disturbance {
    void run() throws Exception;
  }

  /** What happens to the activator, but for requests. */
  private final class Disturbances {
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    void start() {
      every(Duration.ofSeconds(45), Duration.ofSeconds(10), SoakDrill.this::newCertificate);
      every(Duration.ofSeconds(60), Duration.ofSeconds(15), this::configure);
      every(Duration.ofMinutes(4), Duration.ofSeconds(20), () -> cluster.apiIsAway(API_AWAY));
      every(Duration.ofMinutes(3), Duration.ofSeconds(50),
          () -> cluster.autoscalerIsAway(AUTOSCALER_AWAY));
    }

    private void configure() {
      cluster.configure("config-observability", "logging.enable-request-log", "true");
      cluster.configure("config-network", "mesh-compatibility-mode", "disabled");
      pause(Duration.ofSeconds(2));
      cluster.configure("config-observability", "logging.enable-request-log", "false");
      cluster.configure("config-network", "mesh-compatibility-mode", "auto");
    }

    private void every(Duration period, Duration first, Disturbance disturbance) {
      threads.add(Thread.startVirtualThread(() -> {
        pause(first, () -> stopped);
        while (!stopped) {
          try {
            disturbance.run();
          } catch (Exception e) {
            e.printStackTrace();
          }
          pause(period, () -> stopped);
        }
      }));
    }

    /** Returns when everything is back. */
    void stop() throws InterruptedException {
      stopped = true;
      for (var thread : threads) {
        thread.join();
      }
    }
  }

  private void load(Process process) throws IOException {
    long end = begunNanos + Duration.ofMinutes(minutes).toNanos();
    while (end - System.nanoTime() > 0) {
      long left = Math.min(end - System.nanoTime(), SAMPLE_INTERVAL.toNanos());
      pause(Duration.ofNanos(left));
      var sample = sample(process);
      samples.add(sample);
      System.out.printf("%s; %,d requests, %d revisions%n", text(sample), counts.total(),
          cluster.revisions().size());
    }
  }

  /** Waits until nothing of requests and of deleted revisions is left, and all idle connections are closed. */
  private SoakSample rest(Process process) throws IOException {
    long end = System.nanoTime() + REST_PATIENCE.toNanos();
    var revisions = new HashSet<>(cluster.revisions());
    pause(IDLE_TIMEOUT);
    var last = sample(process);
    pause(REST_INTERVAL);
    var sample = sample(process);
    while ((!sample.remains(revisions).isEmpty() || sample.descriptors() != last.descriptors())
        && end - System.nanoTime() > 0) {
      last = sample;
      pause(REST_INTERVAL);
      sample = sample(process);
    }
    System.out.println("at rest: " + text(sample));
    return sample;
  }

  private SoakSample sample(Process process) throws IOException {
    if (!process.isAlive()) {
      throw new IOException("the activator has ended with " + process.exitValue());
    }
    return SoakSample.of(process.pid(), management, (System.nanoTime() - begunNanos) / 1e9);
  }

  private static String text(SoakSample sample) {
    return String.format(Locale.ROOT,
        "%5.0f s: heap %.1f MiB, resident %.0f MiB, direct %.1f MiB, %d descriptors, %d threads",
        sample.seconds(), sample.heapMebibytes(), sample.resident(), sample.directMebibytes(),
        sample.descriptors(), sample.threads());
  }

  static void pause(Duration time) {
    pause(time, () -> false);
  }

  /** Ends early when this is so. */
  static void pause(Duration time, BooleanSupplier ended) {
    long end = System.nanoTime() + time.toNanos();
    for (long left = end - System.nanoTime(); left > 0
        && !ended.getAsBoolean(); left = end - System.nanoTime()) {
      LockSupport.parkNanos(Math.min(left, 500_000_000));
    }
  }
}
