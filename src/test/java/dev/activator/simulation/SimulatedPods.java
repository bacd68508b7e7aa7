package dev.activator.simulation;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.PodConnectionPools;
import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import dev.activator.upstream.UpstreamPool;
import dev.activator.upstream.UpstreamPool.Dial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Addresses where processes listen, hang, refuse, end and begin again, and the network to them. Counts
 * what the activator runs where, from outside.
 */
final class SimulatedPods implements ProbeClient {
  static final int PORT = 8012;
  private static final ProbeResult OK = new ProbeResult.Answered(200, "queue");
  private static final ProbeResult MESH = new ProbeResult.Answered(503, "");
  private static final ProbeResult REFUSED = new ProbeResult.Refused("connection refused");

  /** What a caller promised not to be done twice is not; and no pod has more than its limit. */
  interface Observer {
    void headLeft(String request);

    /**
     * The uid of the revision that the activator knew when this request came. A recreated revision
     * may have the same ClusterIP.
     */
    String sender(String request);

    /** @param destination that of the process, or the ClusterIP of its revision */
    void began(Destination destination, Process process, String sender);
  }

  /** A process behind an address. */
  static final class Process {
    final RevisionId revision;
    final Destination at;
    /** The uid of its pod. */
    String pod = "";
    boolean listens;
    /** When it, or one before it in the same pod, last answered a probe; -1 for never. */
    long answeredNanos = -1;
    boolean hangs;
    /** A mesh in front of it takes requests for the Service's address only. */
    boolean meshed;
    /** Its node is gone: packets to it are lost. */
    boolean vanished;
    boolean ready;
    final List<SimulatedPool.Connection> connections = new ArrayList<>();
    final List<Runnable> stalled = new ArrayList<>();

    Process(RevisionId revision, Destination at) {
      this.revision = revision;
      this.at = at;
    }

    boolean serves() {
      return listens && !hangs && !vanished;
    }

    int running() {
      return (int) connections.stream().filter(SimulatedPool.Connection::isRunning).count();
    }
  }

  /** Requests to a process, or through the ClusterIP of a revision. */
  private record Sent(Object to, String sender) {}

  private final VirtualLoop clock;
  private final Random random;
  private final Observer observer;
  private final Map<Destination, Process> processes = new TreeMap<>();
  private final Map<Destination, RevisionId> clusterIps = new HashMap<>();
  private final Map<Sent, Integer> running = new HashMap<>();
  int probes;

  SimulatedPods(VirtualLoop clock, Random random, Observer observer) {
    this.clock = clock;
    this.random = random;
    this.observer = observer;
  }

  void clusterIp(RevisionId revision, Destination address) {
    clusterIps.put(address, revision);
  }

  void add(Process process) {
    processes.put(process.at, process);
  }

  /** All its connections end, and nothing listens there. */
  void kill(Process process) {
    process.listens = false;
    var open = List.copyOf(process.connections);
    process.connections.clear();
    process.stalled.clear();
    if (!process.vanished) {
      open.forEach(one -> later(1, one::lost));
    }
  }

  void remove(Process process) {
    kill(process);
    processes.remove(process.at, process);
  }

  /** Goes on with what it did not answer. */
  void wake(Process process) {
    process.hangs = false;
    var stalled = List.copyOf(process.stalled);
    process.stalled.clear();
    stalled.forEach(Runnable::run);
  }

  int running() {
    return running.values().stream().mapToInt(Integer::intValue).sum();
  }

  /** Those that were sent to this process itself. */
  int running(Process process) {
    return running.entrySet().stream().filter(each -> each.getKey().to() == process)
        .mapToInt(Map.Entry::getValue).sum();
  }

  @Nullable Process at(Destination address) {
    return processes.get(address);
  }

  /** Those of one sender. */
  int running(Destination address, String sender) {
    var process = at(address);
    return process == null ? 0 : running.getOrDefault(new Sent(process, sender), 0);
  }

  int runningThroughClusterIp(RevisionId revision, String sender) {
    return running.getOrDefault(new Sent(revision, sender), 0);
  }

  /** When a message has crossed the network. */
  void later(int mostMillis, Runnable task) {
    clock.schedule(Duration.ofNanos(50_000 + random.nextLong(mostMillis * 1_000_000L)), task);
  }

  /** Where a connection to this address ends up; null if it is refused. */
  @Nullable Process behind(Destination address) {
    var revision = clusterIps.get(address);
    if (revision == null) {
      return processes.get(address);
    }
    var ready = processes.values().stream()
        .filter(one -> one.revision.equals(revision) && one.ready).toList();
    return ready.isEmpty() ? null : ready.get(random.nextInt(ready.size()));
  }

  @Override
  public void probe(Loop loop, ProbeRequest request, Consumer<ProbeResult> done) {
    probes++;
    var to = behind(request.destination());
    if (to != null && (to.hangs || to.vanished)) {
      loop.schedule(request.timeout(),
          () -> done.accept(new ProbeResult.TimedOut(request.timeout(), true)));
    } else {
      boolean direct = !clusterIps.containsKey(request.destination());
      later(2, () -> done.accept(answer(to, direct)));
    }
  }

  private ProbeResult answer(@Nullable Process to, boolean direct) {
    if (to == null || !to.listens) {
      return REFUSED;
    }
    if (to.meshed && direct) {
      return MESH;
    }
    if (direct) {
      to.answeredNanos = clock.elapsed().toNanos();
    }
    return OK;
  }

  void headLeft(String request) {
    observer.headLeft(request);
  }

  String sender(String request) {
    return observer.sender(request);
  }

  void began(Destination address, Process process, String sender) {
    running.merge(sent(address, process, sender), 1, Integer::sum);
    observer.began(address, process, sender);
  }

  void ended(Destination address, Process process, String sender) {
    running.computeIfPresent(sent(address, process, sender),
        (_, count) -> count == 1 ? null : count - 1);
  }

  private Sent sent(Destination address, Process process, String sender) {
    return new Sent(clusterIps.containsKey(address) ? process.revision : process, sender);
  }

  /** The connections of one loop. */
  PodConnectionPools pools() {
    var pools = new HashMap<String, SimulatedPool>();
    return new PodConnectionPools() {
      @Override
      public UpstreamPool to(Destination pod, LiveRevision revision, @Nullable PodIdentity identity,
          PortProtocol protocol) {
        return pools.computeIfAbsent(protocol + " " + pod,
            _ -> new SimulatedPool(SimulatedPods.this, random, pod));
      }

      @Override
      public Dial open(Destination pod, OpenListener listener) {
        throw new AssertionError("requests open no connections that no pool keeps");
      }

      @Override
      public Destination address(Destination pod, LiveRevision revision,
          @Nullable PodIdentity identity) {
        return pod;
      }

      @Override
      public boolean isSecure(@Nullable PodIdentity identity) {
        return false;
      }
    };
  }
}
