package dev.activator.ext.asleep;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.ext.asleep.policy.ShrinkSpec;
import dev.activator.ext.asleep.policy.SleepCalls;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.LeadershipCheck;
import dev.activator.kube.ScalingApiClients;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.platform.IdleMethod;
import dev.activator.revision.Destination;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.ScalingListener;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Resizes of a pod, against an API that answers as Kubernetes does, with a node that is quick. */
class ShrinkSleepTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final List<Destination> PODS = List.of(new Destination("10.0.0.1", 80));
  private static final IdleTarget TARGET = new IdleTarget(
      new ScaleTargetRef("apps/v1", "Deployment", "web"), "shrink", Duration.ZERO, Duration.ZERO,
      SleepCalls.DEFAULT, new ShrinkSpec(Map.of("cpu", "1m"), Map.of(), Duration.ofSeconds(10)));

  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final Loop loop = new NettyLoop(threads.next());
  private HttpServer api;
  private ScalingApiClients clients;
  private ShrinkSleep shrink;
  private volatile @Nullable ObjectNode service = scaledService("a");
  private volatile String cpu = "2";
  private volatile String sidecarCpu = "1";
  private volatile boolean hasPod = true;
  private volatile boolean refusesResizes;
  /** Whether the node cannot give a pod other resources. */
  private volatile boolean isInfeasible;
  private volatile boolean leads = true;
  private volatile String uid = "p";
  /** What a second pod has, at 10.0.0.2; empty if there is none. */
  private volatile String secondCpu = "";
  /** Called once the pods are listed. */
  private volatile Runnable onListed = () -> {
  };
  /** Whether another activator has written the status since it was read. */
  private volatile boolean hasConflict;
  /** Whether the address of the Service's family is the pod's second. */
  private volatile boolean isSecond;

  private static ObjectNode scaledService(String uid) {
    return (ObjectNode) JSON.readTree("{\"metadata\": {\"uid\": \"" + uid
        + "\", \"resourceVersion\": \"1\"}, \"status\": {}}");
  }

  @BeforeEach
  void start() throws IOException {
    api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.createContext("/", exchange -> {
      var body = JSON.readTree(exchange.getRequestBody().readAllBytes());
      var path = exchange.getRequestURI().getPath();
      if (isSecond && exchange.getRequestURI().getQuery() != null && path.endsWith("/pods")) {
        respond(exchange, 200, "{\"items\": []}");
      } else if (path.endsWith("/web-1/resize")
          && !body.at("/metadata/uid").asString("").equals(uid)) {
        respond(exchange, 422, "{\"message\": \"metadata.uid: field is immutable\"}");
      } else if (hasConflict && path.endsWith("/status")) {
        hasConflict = false;
        respond(exchange, 409, "{\"message\": \"modified\"}");
      } else if (refusesResizes && path.endsWith("/resize")) {
        respond(exchange, 403, "{\"message\": \"not allowed\"}");
      } else {
        var answer = answer(path, body);
        respond(exchange, answer == null ? 404 : 200,
            answer == null ? "{\"message\": \"not found\"}" : answer);
      }
    });
    api.start();
    clients = new ScalingApiClients(
        new ClusterAccess.At(URI.create("http://127.0.0.1:" + api.getAddress().getPort())),
        () -> KubernetesWriteRateLimiter.UNLIMITED);
    clients.open();
    // The first request loads the client's classes, which a busy machine takes seconds for.
    clients.scaling().fetch("version", Duration.ofMinutes(1)).join();
    shrink = new ShrinkSleep(new Cluster());
  }

  private static void respond(HttpExchange exchange, int status, String text)
      throws IOException {
    var bytes = text.getBytes(UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private @Nullable String answer(String path, JsonNode body) {
    return switch (path) {
      case "/apis/activator.dev/v1alpha1" -> """
          {"kind": "APIResourceList", "groupVersion": "activator.dev/v1alpha1", "resources": [
           {"name": "scaledservices", "kind": "ScaledService", "namespaced": true}]}""";
      case "/apis/activator.dev/v1alpha1/namespaces/shop/scaledservices/web" -> service == null
          ? null
          : service.toString();
      case "/apis/activator.dev/v1alpha1/namespaces/shop/scaledservices/web/status" -> {
        service.withObject("/status").setAll((ObjectNode) body.path("status"));
        yield service.toString();
      }
      case "/api/v1/namespaces/shop/pods" -> {
        var pods = "{\"items\": [" + (hasPod ? pod() : "")
            + (hasPod && !secondCpu.isEmpty() ? ", " : "") + secondPod() + "]}";
        onListed.run();
        yield pods;
      }
      case "/api/v1/namespaces/shop/pods/web-1/resize" -> {
        cpu = body.at("/spec/containers/0/resources/requests/cpu").asString();
        sidecarCpu = body.at("/spec/initContainers/0/resources/requests/cpu").asString();
        yield pod();
      }
      case "/api/v1/namespaces/shop/pods/web-1" -> pod();
      case "/api/v1/namespaces/shop/pods/web-2/resize" -> {
        secondCpu = body.at("/spec/containers/0/resources/requests/cpu").asString();
        yield secondPod();
      }
      case "/api/v1/namespaces/shop/pods/web-2" -> secondCpu.isEmpty() ? null : secondPod();
      default -> null;
    };
  }

  private static String container(String name, String requested) {
    return "{\"name\": \"" + name + "\", \"restartPolicy\": \"Always\", \"resources\":"
        + " {\"requests\": {\"cpu\": \"" + requested + "\"}}}";
  }

  private String pod() {
    var container = "[" + container("web", cpu) + "]";
    var sidecar = container("proxy", sidecarCpu);
    return "{\"metadata\": {\"namespace\": \"shop\", \"name\": \"web-1\", \"uid\": \"" + uid
        + "\"},"
        + " \"spec\": {\"containers\": " + container
        + ", \"initContainers\": [{\"name\": \"once\"}, "
        + sidecar + "]}, \"status\": {\"phase\": \"Running\","
        + " \"podIP\": \"fd00::1\", \"podIPs\": [{\"ip\": \"fd00::1\"}, {\"ip\": \"10.0.0.1\"}],"
        + (isInfeasible
            ? " \"conditions\": [{\"type\": \"PodResizePending\", \"status\": \"True\","
                + " \"reason\": \"Infeasible\"}],"
            : "")
        + " \"containerStatuses\": " + container + ", \"initContainerStatuses\": [" + sidecar
        + "]}}";
  }

  private String secondPod() {
    var containers = "[" + container("web", secondCpu) + "]";
    return secondCpu.isEmpty()
        ? ""
        : "{\"metadata\": {\"namespace\": \"shop\", \"name\": \"web-2\", \"uid\": \"second\"},"
            + " \"spec\": {\"containers\": " + containers + "}, \"status\": {\"phase\":"
            + " \"Running\", \"podIP\": \"10.0.0.2\", \"containerStatuses\": " + containers
            + "}}";
  }

  @AfterEach
  void stop() {
    clients.close();
    api.stop(0);
    threads.shutdownGracefully(0, 5, TimeUnit.SECONDS);
  }

  private String sleep() {
    return shrink.sleep(WEB, PODS, TARGET).join();
  }

  private String wake() {
    return shrink.wake(WEB, PODS, TARGET).join();
  }

  @Test
  void aLaterLeaderGivesBackWhatAPodHad() {
    assertThat(sleep()).isEmpty();
    assertThat(cpu).isEqualTo("1m");

    shrink = new ShrinkSleep(new Cluster());
    assertThat(wake()).isEmpty();

    assertThat(cpu).isEqualTo("2");
    assertThat(service.at("/status/shrunk").isNull()).isTrue();
  }

  @Test
  void nativeSidecarsAreShrunkWithTheirPod() {
    assertThat(sleep()).isEmpty();
    assertThat(sidecarCpu).isEqualTo("1m");

    assertThat(wake()).isEmpty();
    assertThat(sidecarCpu).isEqualTo("1");
  }

  @ParameterizedTest(name = "only the pods that are ready are shrunk again: {0}")
  @ValueSource(ints = {0, 1})
  void givesBackWhatPodsHad_thatWereNotReadyWhenOthersWereShrunkAgain(int ready) {
    secondCpu = "3";
    var both = List.of(PODS.getFirst(), new Destination("10.0.0.2", 80));
    assertThat(shrink.sleep(WEB, both, TARGET).join()).isEmpty();
    assertThat(List.of(cpu, secondCpu)).containsExactly("1m", "1m");

    shrink = new ShrinkSleep(new Cluster());
    assertThat(shrink.sleep(WEB, PODS.subList(0, ready), TARGET).join()).isEmpty();
    // What the process knows counts.
    service = scaledService("b");
    assertThat(shrink.wake(WEB, both, TARGET).join()).isEmpty();

    assertThat(List.of(cpu, secondCpu)).containsExactly("2", "3");
  }

  @Test
  void forgetsWhatPodsHadThatAreGone() {
    secondCpu = "3";
    assertThat(shrink.sleep(WEB, List.of(new Destination("10.0.0.2", 80)), TARGET).join())
        .isEmpty();

    secondCpu = "";
    assertThat(sleep()).isEmpty();

    assertThat(service.at("/status/shrunk").valueStream().map(one -> one.path("name").asString()))
        .containsExactly("web-1");
  }

  @Test
  void givesBackWhatAPodHad_afterItsScaledServiceIsDeleted() {
    assertThat(sleep()).isEmpty();

    service = null;
    assertThat(wake()).isEmpty();

    assertThat(cpu).isEqualTo("2");
  }

  @Test
  void givesBackWhatAPodHad_afterItsScaledServiceIsMadeAgain() {
    assertThat(sleep()).isEmpty();

    service = scaledService("b");
    assertThat(wake()).isEmpty();

    assertThat(cpu).isEqualTo("2");
  }

  @Test
  void saysThatNoPodRuns_insteadOfBlamingTheDefinition() {
    hasPod = false;

    assertThat(sleep()).isEqualTo("none of its pods runs");
  }

  @Test
  void aPodWhoseResizeIsRefusedStaysAwake() {
    refusesResizes = true;

    assertThat(sleep()).isEqualTo("pod web-1 cannot be resized: 403 not allowed");
    assertThat(wake()).isEmpty();

    assertThat(service.at("/status/shrunk").isNull()).isTrue();
  }

  @Test
  void aPodThatItsNodeDoesNotShrinkIsNotTriedAgain_butOneThatReplacesItIs() {
    isInfeasible = true;
    var why = "pod web-1: its node refuses the resize as Infeasible";
    assertThat(sleep()).isEqualTo(why);
    assertThat(wake()).isEqualTo(why);
    isInfeasible = false;
    assertThat(wake()).isEmpty();

    assertThat(sleep()).isEqualTo(why);
    assertThat(cpu).isEqualTo("2");
    assertThat(service.at("/status/shrunk").isNull()).isTrue();

    uid = "q";
    assertThat(sleep()).isEmpty();
    assertThat(cpu).isEqualTo("1m");
  }

  @Test
  void aPodThatHasReplacedItIsNotShrunk() {
    onListed = () -> uid = "q";

    assertThat(sleep())
        .isEqualTo("pod web-1 cannot be resized: 422 metadata.uid: field is immutable");

    assertThat(cpu).isEqualTo("2");
  }

  @Test
  void aLeaderThatWasReplacedShrinksNoPod() {
    onListed = () -> leads = false;

    assertThat(sleep()).isEqualTo("this activator does not lead any more");

    assertThat(cpu).isEqualTo("2");
  }

  @Test
  void doesNotStoreWhatAPodHad_ifALaterLeaderMayHaveStoredAndRemovedIt() {
    hasConflict = true;

    assertThat(sleep()).isEqualTo(
        "cannot patch ScaledService web in namespace shop: 409 modified");

    assertThat(cpu).isEqualTo("2");
  }

  @Test
  void shrinksAPodWithTwoAddresses_byItsSecond() {
    isSecond = true;

    assertThat(sleep()).isEmpty();

    assertThat(cpu).isEqualTo("1m");
  }

  private final class Cluster implements IdleMethod.Environment {
    @Override
    public Loop loop() {
      return loop;
    }

    @Override
    public Instant now() {
      throw new IllegalStateException();
    }

    @Override
    public KubernetesApiClient api() {
      return clients.scaling();
    }

    @Override
    public ScaleClient<ScaleTarget> workloads() {
      throw new IllegalStateException();
    }

    @Override
    public LeadershipCheck leadership() {
      return new LeadershipCheck() {
        @Override
        public boolean mayWrite() {
          return leads;
        }

        @Override
        public CompletableFuture<Boolean> confirmed() {
          throw new IllegalStateException();
        }
      };
    }

    @Override
    public ScalingListener events() {
      throw new IllegalStateException();
    }

    @Override
    public void woken(RevisionId id, @Nullable IdleState state) {
      throw new IllegalStateException();
    }

    @Override
    public CompletableFuture<@Nullable PodsByReadiness> pods(RevisionId id) {
      throw new IllegalStateException();
    }

    @Override
    public List<String> unacknowledged(RevisionId id, IdleState state, long written) {
      throw new IllegalStateException();
    }
  }
}
