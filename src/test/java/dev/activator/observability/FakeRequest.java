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
  public final Map<String, String> responseHeaders = new TreeMap<>();
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
  private @Nullable LiveRevision fallback;

  private FakeRequest(RequestObserver observer, @Nullable LiveRevision revision, VirtualLoop loop) {
    super(loop.nanoTime());
    this.observer = observer;
    this.revision = revision;
    this.loop = loop;
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
    saw(Step.ARRIVED);
  }

  @Override
  protected void saw(Step step) {
    observer.saw(step, this);
  }

  @Override
  public void queued() {
    super.queued();
  }

  public void granted(Destination to) {
    super.granted(to, to);
  }

  /** A ClusterIP chooses its pod. */
  public void grantedThrough(Destination clusterIp) {
    super.granted(null, clusterIp);
  }

  public void forwarding() {
    saw(Step.FORWARDING);
  }

  public void fellBackTo(LiveRevision to) {
    fallback = to;
  }

  @Override
  public void connected() {
    super.connected();
  }

  @Override
  public void undelivered(String kind) {
    super.undelivered(kind);
  }

  @Override
  public void responding(int podStatus) {
    super.responding(podStatus);
  }

  @Override
  public void read(int bodyBytes) {
    super.read(bodyBytes);
  }

  @Override
  public void wrote(int bodyBytes) {
    super.wrote(bodyBytes);
  }

  @Override
  public void failed(@Nullable String kind) {
    super.failed(kind);
  }

  @Override
  public void ended(RequestOutcome how, int as) {
    super.ended(how, as);
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
  public void setHeader(String name, String value) {
    headers.put(name, value);
  }

  @Override
  public void addResponseHeader(String name, String value) {
    responseHeaders.put(name, value);
  }

  @Override
  public List<String> responseHeaders(String name) {
    var value = responseHeaders.get(name);
    return value == null ? List.of() : List.of(value);
  }

  @Override
  public @Nullable Revision revision() {
    return revision == null ? null : revision.spec();
  }

  @Override
  public @Nullable LiveRevision routed() {
    return revision;
  }

  @Override
  public boolean hasFallenBack() {
    return fallback != null;
  }

  @Override
  public @Nullable LiveRevision serving() {
    return fallback == null ? revision : fallback;
  }
}
