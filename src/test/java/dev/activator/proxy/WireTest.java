package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.tls.PodTls;
import io.netty.channel.IoHandlerFactory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** A proxy, pods that follow scripts, and what must hold when a test ends. */
@ExtendWith(LeaksAtTheEnd.class)
public abstract class WireTest {
  protected final BlockingQueue<RawPeer.Head> seen = new LinkedBlockingQueue<>();
  private final List<ScriptedPod> pods = new ArrayList<>();
  public Activator activator;

  Activator.Settings settings() {
    return Activator.Settings.DEFAULT;
  }

  /** Plain connections, unless a test wants others. */
  PodTls tls() {
    return new PodTls(TestRevisions.unused());
  }

  IoHandlerFactory io() {
    return Activator.nativeIo();
  }

  TcpKeepAlive keepAlive() {
    return TcpKeepAlive.TO_PODS;
  }

  @BeforeEach
  void start() throws IOException {
    activator = new Activator(settings(), tls(), io(), keepAlive());
  }

  /** Starts again, with other settings. */
  void startWith(Activator.Settings other) throws IOException {
    activator.close();
    activator = new Activator(other, tls(), io(), keepAlive());
  }

  /** Starts again, with longer times: a pod or a caller that waits for a core is not too late. */
  protected void startSlowly() throws IOException {
    startWith(Activator.Settings.DEFAULT.slow());
  }

  @AfterEach
  void everythingIsGivenBack() throws IOException {
    awaitIdle();
    activator.close();
    for (var pod : pods) {
      pod.close();
    }
  }

  /** Of what the garbage collector has found; {@link LeaksAtTheEnd} lets it look for the rest. */
  @AfterAll
  static void nothingLeaked() {
    Activator.assertNoLeak();
  }

  /** A pod that answers each request with this, and permits for it. */
  protected ScriptedPod pod(String response) throws IOException {
    return pod(caller -> {
      while (true) {
        var head = caller.readHead();
        caller.readBody(head);
        seen.add(head);
        caller.send(response);
      }
    });
  }

  /** A pod that follows this script on each connection, and permits for it. */
  protected ScriptedPod pod(ScriptedPod.Script script) throws IOException {
    var pod = idlePod(script);
    activator.throttle.grow(pod.destination(), 100);
    return pod;
  }

  /** As the other, without a permit. */
  protected ScriptedPod idlePod(ScriptedPod.Script script) throws IOException {
    return closing(new ScriptedPod(script));
  }

  /** Closes the pod when the test ends. */
  ScriptedPod closing(ScriptedPod pod) {
    pods.add(pod);
    return pod;
  }

  protected RawPeer.Head seen() throws InterruptedException {
    return next(seen);
  }

  protected static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
    var next = queue.poll(120, TimeUnit.SECONDS);
    assertThat(next).as("what is waited for").isNotNull();
    return next;
  }

  void awaitIdle() {
    eventually(() -> {
      assertThat(activator.counted).as("requests that were not counted out").hasValue(0);
      assertThat(activator.requests.open()).as("requests whose end nobody heard of").isZero();
      assertThat(activator.throttle.inFlight()).as("permits that were not released").isZero();
      assertThat(activator.throttle.queued()).as("places that were not given up").isZero();
      assertThat(activator.held.total()).as("bytes that were not given back").isZero();
    });
  }

  protected static void eventually(Runnable holds) {
    Awaitility.await().untilAsserted(holds::run);
  }

  /** The response to what was sent, with its body, as {@code status body}. */
  protected static String response(RawPeer caller) throws IOException {
    var head = caller.readHead();
    return head.start().split(" ")[1] + " " + caller.readBody(head);
  }
}
