package dev.activator.observability;

import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
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
  public boolean mayWake = true;

  private FakeRequest(RequestObserver observer, @Nullable Revision revision, VirtualLoop loop) {
    super(observer, revision, loop.nanoTime());
    this.loop = loop;
  }

  /** One for the revision {@link #HELLO}, with the labels of a service. */
  public static FakeRequest of(RequestObserver observer, VirtualLoop loop) {
    return new FakeRequest(observer, revision(Map.of()), loop);
  }

  public static FakeRequest of(RequestObserver observer, VirtualLoop loop, Revision revision) {
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

  @Override
  public long now() {
    return loop.nanoTime();
  }

  @Override
  public boolean mayWake() {
    return mayWake;
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
}
