package dev.activator.observability;

import dev.activator.observability.RequestObserver.Step;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A request that says what a test has it say, in virtual time. */
public final class FakeRequest extends RequestTimeline {
  public static final RevisionId HELLO = new RevisionId("testNs", "testRevision");
  public static final Destination POD = new Destination("10.0.0.1", 8012);
  public static final Destination OTHER_POD = new Destination("10.0.0.2", 8012);

  private final VirtualLoop loop;
  public final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  public String method = "GET";
  public String target = "/greet?a=b";
  public String host = "hello.example";
  public String peer = "192.0.2.7";
  public String protocol = "HTTP/1.1";
  public boolean secure;
  public boolean podSecure;
  public boolean mayWait = true;
  private final RequestObserver observer;
  private final @Nullable LiveRevision revision;
  private final long arrivedNanos;
  private long grantedNanos;
  private long connectedNanos;
  private long respondedNanos;
  private long endedNanos;
  private long requestBytes;
  private long responseBytes;
  private int responseStatus;
  private int status;
  private int retries;
  private boolean queued;
  private boolean running;
  private boolean waited;
  private boolean timed;
  private boolean fellBack;
  private @Nullable Destination destination;
  private @Nullable RequestOutcome outcome;
  private @Nullable String failure;

  private FakeRequest(RequestObserver observer, @Nullable LiveRevision revision, VirtualLoop loop) {
    this.observer = observer;
    this.revision = revision;
    this.loop = loop;
    this.arrivedNanos = loop.nanoTime();
  }

  /** One for the revision {@link #HELLO}, with the labels of a service. */
  public static FakeRequest of(RequestObserver observer, VirtualLoop loop) {
    return of(observer, loop, TestRevisions.alone(revision(Map.of())));
  }

  /** One for the revision {@link #HELLO} of these. */
  public static FakeRequest of(RequestObserver observer, VirtualLoop loop, TestRevisions all) {
    return of(observer, loop, all.of(HELLO));
  }

  public static FakeRequest of(RequestObserver observer, VirtualLoop loop, LiveRevision revision) {
    return new FakeRequest(observer, revision, loop);
  }

  /** One for a revision that there is not. */
  public static FakeRequest lost(RequestObserver observer, VirtualLoop loop) {
    return new FakeRequest(observer, null, loop);
  }

  public static Revision revision(Map<String, String> annotations) {
    return new Revision(HELLO, "u1", PortProtocol.HTTP1, 0, RequestTimeouts.DEFAULT, true, null,
        Map.of("serving.knative.dev/service", "testSvc", "serving.knative.dev/configuration",
            "testConfig"),
        annotations, null);
  }

  public FakeRequest header(String name, int value) {
    headers.put(name, Integer.toString(value));
    return this;
  }

  /** All of a request that finds a pod, takes this long, and ends well. */
  public FakeRequest answered(int status, Duration took) {
    begin();
    granted(POD);
    forwarding();
    responding(status);
    loop.advance(took);
    ended(RequestOutcome.ANSWERED, status);
    return this;
  }

  public void begin() {
    observer.saw(Step.ARRIVED, this);
  }

  public void queued() {
    queued = true;
    running = false;
    waited = true;
    observer.saw(Step.QUEUED, this);
  }

  public void granted(Destination to) {
    grantedNanos = waited ? now() : arrivedNanos;
    connectedNanos = 0;
    queued = false;
    running = true;
    destination = to;
    failure = null;
    observer.saw(Step.GRANTED, this);
  }

  public void forwarding() {
    observer.saw(Step.FORWARDING, this);
  }

  public void fellBack() {
    fellBack = true;
  }

  public void connected() {
    connectedNanos = now();
  }

  public void undelivered(String kind) {
    retries++;
    failure = kind;
    observer.saw(Step.UNDELIVERED, this);
  }

  public void responding(int with) {
    responseStatus = with;
    respondedNanos = timed || waited ? now() : 0;
    observer.saw(Step.RESPONDING, this);
  }

  public void read(int bodyBytes) {
    requestBytes += bodyBytes;
  }

  public void wrote(int bodyBytes) {
    responseBytes += bodyBytes;
  }

  public void failed(String kind) {
    failure = kind;
  }

  public void ended(RequestOutcome how, int as) {
    outcome = how;
    status = as;
    endedNanos = now();
    observer.saw(Step.ENDED, this);
  }

  @Override
  public long now() {
    return loop.nanoTime();
  }

  @Override
  public boolean mayWait() {
    return mayWait;
  }

  @Override
  public String method() {
    return method;
  }

  @Override
  public String target() {
    return target;
  }

  @Override
  public String path() {
    return target;
  }

  @Override
  public String host() {
    return host;
  }

  @Override
  public String protocol() {
    return protocol;
  }

  @Override
  public boolean secure() {
    return secure;
  }

  @Override
  public boolean podInHttp2() {
    return protocol.equals("HTTP/2.0");
  }

  @Override
  public boolean podSecure() {
    return podSecure;
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public int peerPort() {
    return 41_000;
  }

  @Override
  public @Nullable String header(String name) {
    return headers.get(name);
  }

  @Override
  public List<String> headers(String name) {
    var value = headers.get(name);
    return value == null ? List.of() : List.of(value);
  }

  @Override
  public void header(String name, String value) {
    headers.put(name, value);
  }

  @Override
  public void time() {
    timed = true;
  }

  @Override
  public @Nullable Revision revision() {
    return revision == null ? null : revision.spec();
  }

  @Override
  public @Nullable LiveRevision live() {
    return revision;
  }

  @Override
  public boolean hasFallenBack() {
    return fellBack;
  }

  @Override
  public long arrivedNanos() {
    return arrivedNanos;
  }

  @Override
  public long grantedNanos() {
    return grantedNanos;
  }

  @Override
  public long connectedNanos() {
    return connectedNanos;
  }

  @Override
  public long respondedNanos() {
    return respondedNanos;
  }

  @Override
  public long endedNanos() {
    return endedNanos;
  }

  @Override
  public long requestBytes() {
    return requestBytes;
  }

  @Override
  public long responseBytes() {
    return responseBytes;
  }

  @Override
  public int responseStatus() {
    return responseStatus;
  }

  @Override
  public int status() {
    return status;
  }

  @Override
  public int retries() {
    return retries;
  }

  @Override
  public boolean isQueued() {
    return queued;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public boolean waited() {
    return waited;
  }

  @Override
  public @Nullable Destination destination() {
    return destination;
  }

  @Override
  public @Nullable RequestOutcome outcome() {
    return outcome;
  }

  @Override
  public @Nullable String failure() {
    return failure;
  }
}
