package dev.activator.simulation;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.PodPools;
import dev.activator.upstream.ProbeAnswer;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeRequest;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamListener;
import dev.activator.upstream.UpstreamPool;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
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
  private static final ProbeAnswer OK = new ProbeAnswer.Answered(200, "queue");
  private static final ProbeAnswer MESH = new ProbeAnswer.Answered(503, "");
  private static final ProbeAnswer REFUSED = new ProbeAnswer.Failed("connection refused");

  /** What a caller promised not to be done twice is not; and no pod has more than its limit. */
  interface Observer {
    void headLeft(String request);

    /** @param destination that of the process, or the ClusterIP of its revision */
    void began(Destination destination, Process process);
  }

  /** A process behind an address. */
  static final class Process {
    final RevisionId revision;
    /** Differs between a revision and a later one of the same name. */
    final String revisionUid;
    final Destination at;
    /** The uid of its pod. */
    String pod = "";
    boolean listens;
    /** Whether it, or one before it in the same pod, has answered a probe. */
    boolean answered;
    boolean hangs;
    /** A mesh in front of it takes requests for the Service's address only. */
    boolean meshed;
    /** Its node is gone: packets to it are lost. */
    boolean vanished;
    boolean ready;
    private final List<Connection> connections = new ArrayList<>();
    private final List<Runnable> stalled = new ArrayList<>();

    Process(RevisionId revision, String revisionUid, Destination at) {
      this.revision = revision;
      this.revisionUid = revisionUid;
      this.at = at;
    }

    boolean serves() {
      return listens && !hangs && !vanished;
    }

    int running() {
      return (int) connections.stream().filter(one -> one.running).count();
    }

    /** The same for all processes of a revision, but not for those of another of the same name. */
    private Object throughClusterIp() {
      return revision + revisionUid;
    }
  }

  private final VirtualLoop clock;
  private final Random random;
  private final Observer observer;
  private final Map<Destination, Process> processes = new TreeMap<>();
  private final Map<Destination, RevisionId> clusterIps = new HashMap<>();
  /** By process, or by the revision whose ClusterIP it runs through. */
  private final Map<Object, Integer> running = new HashMap<>();
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
    return running.getOrDefault(process, 0);
  }

  @Nullable Process at(Destination address) {
    return processes.get(address);
  }

  int running(Destination address) {
    var process = at(address);
    return process == null ? 0 : running(process);
  }

  /** Those of the process's revision. */
  int runningThroughClusterIp(Process process) {
    return running.getOrDefault(process.throughClusterIp(), 0);
  }

  private void later(int mostMillis, Runnable task) {
    clock.schedule(Duration.ofNanos(50_000 + random.nextLong(mostMillis * 1_000_000L)), task);
  }

  /** Where a connection to this address ends up; null if it is refused. */
  private @Nullable Process behind(Destination address) {
    var revision = clusterIps.get(address);
    if (revision == null) {
      return processes.get(address);
    }
    var ready = processes.values().stream()
        .filter(one -> one.revision.equals(revision) && one.ready).toList();
    return ready.isEmpty() ? null : ready.get(random.nextInt(ready.size()));
  }

  @Override
  public void ask(Loop loop, ProbeRequest request, Consumer<ProbeAnswer> done) {
    probes++;
    var to = behind(request.destination());
    if (to != null && (to.hangs || to.vanished)) {
      loop.schedule(request.timeout(),
          () -> done.accept(new ProbeAnswer.TimedOut(request.timeout())));
    } else {
      boolean direct = !clusterIps.containsKey(request.destination());
      later(2, () -> done.accept(answer(to, direct)));
    }
  }

  private static ProbeAnswer answer(@Nullable Process to, boolean direct) {
    if (to == null || !to.listens) {
      return REFUSED;
    }
    if (to.meshed && direct) {
      return MESH;
    }
    to.answered |= direct;
    return OK;
  }

  /** The connections of one loop. */
  PodPools pools() {
    var pools = new HashMap<String, Pool>();
    return new PodPools() {
      @Override
      public UpstreamPool to(Destination pod, RevisionId revision) {
        return pools.computeIfAbsent("1 " + pod, _ -> new Pool(pod));
      }

      @Override
      public UpstreamPool toHttp2(Destination pod, RevisionId revision) {
        return pools.computeIfAbsent("2 " + pod, _ -> new Pool(pod));
      }

      @Override
      public Destination address(Destination pod, RevisionId revision) {
        return pod;
      }

      @Override
      public boolean isSecure() {
        return false;
      }
    };
  }

  private final class Pool implements UpstreamPool {
    private final Destination to;
    private final List<Connection> idle = new ArrayList<>();

    Pool(Destination to) {
      this.to = to;
    }

    @Override
    public String authority() {
      return to.toString();
    }

    @Override
    public @Nullable UpstreamConnection reuse(UpstreamListener listener) {
      return idle.isEmpty() ? null : idle.removeLast().lend(listener);
    }

    @Override
    public @Nullable UpstreamConnection reuseChecked(UpstreamListener listener) {
      idle.removeIf(one -> one.ended);
      return reuse(listener);
    }

    @Override
    public Dial dial(UpstreamListener listener) {
      var given = new boolean[1];
      var target = behind(to);
      if (target == null || !target.vanished && !target.hangs) {
        later(1, () -> {
          if (!given[0]) {
            connected(target, listener);
          }
        });
      }
      return () -> given[0] = true;
    }

    private void connected(@Nullable Process target, UpstreamListener listener) {
      if (target == null || !target.listens || target.vanished) {
        listener.failed(UpstreamFailure.REFUSED);
        return;
      }
      var made = new Connection(this, target);
      target.connections.add(made);
      made.listener = listener;
      listener.connected(made);
    }
  }

  private final class Connection implements UpstreamConnection {
    private final Pool pool;
    private final Process target;
    private @Nullable UpstreamListener listener;
    private @Nullable HttpRequest request;
    private boolean reused;
    private boolean headIsOut;
    private boolean requestEnded;
    private boolean responseEnded;
    private boolean running;
    private boolean counted;
    /** As the kernel here knows. */
    private boolean ended;

    Connection(Pool pool, Process target) {
      this.pool = pool;
      this.target = target;
    }

    Connection lend(UpstreamListener to) {
      listener = to;
      reused = true;
      request = null;
      headIsOut = false;
      requestEnded = false;
      responseEnded = false;
      return this;
    }

    @Override
    public void write(HttpObject part) {
      if (part instanceof HttpRequest head) {
        request = head;
        counted = true;
        SimulatedPods.this.running.merge(counted(), 1, Integer::sum);
        observer.began(pool.to, target);
      }
      requestEnded |= part instanceof LastHttpContent;
      ReferenceCountUtil.release(part);
    }

    @Override
    public void flush() {
      if (request == null || ended) {
        if (ended) {
          later(1, this::failedIfLent);
        }
        return;
      }
      if (!headIsOut) {
        headIsOut = true;
        observer.headLeft(request.headers().get(Callers.NUMBER));
      }
      if (requestEnded && !running) {
        running = true;
        var served = request;
        later(1, () -> serve(served));
      }
    }

    private void serve(HttpRequest served) {
      if (request != served || !target.connections.contains(this)) {
        return;
      }
      if (target.hangs) {
        target.stalled.add(() -> serve(served));
        return;
      }
      int status = target.meshed && pool.to.equals(target.at) ? 503 : 200;
      later(random.nextInt(8) == 0 ? 2_000 : 60, () -> respond(served, status));
    }

    private void respond(HttpRequest served, int status) {
      if (request != served || !target.connections.contains(this)) {
        return;
      }
      if (target.hangs || target.vanished) {
        target.stalled.add(() -> respond(served, status));
        return;
      }
      running = false;
      var to = listener;
      if (to != null) {
        to.head(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status)));
      }
      if (listener != null) {
        responseEnded = true;
        listener.content(LastHttpContent.EMPTY_LAST_CONTENT);
      }
    }

    /** The other end is gone, and the news of it arrives. */
    void lost() {
      ended = true;
      failedIfLent();
    }

    private void failedIfLent() {
      var told = listener;
      listener = null;
      running = false;
      done();
      if (told != null) {
        told.failed(random.nextBoolean() ? UpstreamFailure.RESET : UpstreamFailure.CLOSED);
      }
    }

    private Object counted() {
      return clusterIps.containsKey(pool.to) ? target.throughClusterIp() : target;
    }

    private void done() {
      if (counted) {
        counted = false;
        SimulatedPods.this.running.merge(counted(), -1, Integer::sum);
      }
      request = null;
    }

    @Override
    public boolean isWritable() {
      return true;
    }

    @Override
    public boolean reused() {
      return reused;
    }

    @Override
    public boolean headIsOut() {
      return headIsOut;
    }

    @Override
    public void pauseReading() {}

    @Override
    public void resumeReading() {}

    @Override
    public void release() {
      listener = null;
      done();
      if (responseEnded && requestEnded && !ended) {
        pool.idle.add(this);
      } else {
        close();
      }
    }

    @Override
    public void close() {
      listener = null;
      ended = true;
      done();
      running = false;
      target.connections.remove(this);
    }
  }
}
