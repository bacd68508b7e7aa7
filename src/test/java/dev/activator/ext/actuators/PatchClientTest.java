package dev.activator.ext.actuators;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ConfigValue;
import dev.activator.ext.actuators.policy.PatchTarget;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ScalingApiClients;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleApiResult.Undecided;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

/** Over HTTP, against the API of embedded mode. */
class PatchClientTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Duration LONG = Duration.ofSeconds(120);
  private static final PatchTarget TARGET = target("Sandbox", "web");

  private final EmbeddedApi server = EmbeddedApi.start();
  private final Sandboxes sandboxes = new Sandboxes(server.store());
  private final ScalingApiClients session = new ScalingApiClients(
      new ClusterAccess.At(URI.create(server.url())),
      () -> KubernetesWriteRateLimiter.UNLIMITED, LONG);
  private final PatchClient client = new PatchClient(session::scaling, LONG,
      Set.of(Sandboxes.RESOURCE));

  private static PatchTarget target(String kind, String name) {
    return PatchTarget.read(ConfigValue.parse("spec.wake.patch",
        "{apiVersion: agents.x-k8s.io/v1alpha1, kind: " + kind + ", name: " + name
            + ", running: {spec: {mode: Running}}, stopped: {spec: {mode: Suspended}}}"));
  }

  @BeforeEach
  void open() {
    session.open();
    sandboxes.create("web", "{'mode': 'Suspended', 'image': 'a'}");
  }

  @AfterEach
  void close() {
    session.close();
    server.close();
  }

  private static ScaleApiResult result(CompletableFuture<ScaleApiResult> future) throws Exception {
    return future.get(120, SECONDS);
  }

  private Found read() throws Exception {
    return (Found) result(client.read(WEB, TARGET));
  }

  @Test
  void startsAndStopsAnObject_andChangesNothingElseOfIt() throws Exception {
    assertThat(read().replicas()).isZero();

    var started = (Found) result(client.write(WEB, TARGET, read(), 1));

    assertThat(started.replicas()).isEqualTo(1);
    assertThat(server.store().find(sandboxes.kind(), "shop", "web").path("spec").toString())
        .isEqualTo("{\"mode\":\"Running\",\"image\":\"a\"}");
    assertThat(((Found) result(client.write(WEB, TARGET, started, 0))).replicas()).isZero();
    assertThat(sandboxes.mode("web")).isEqualTo("Suspended");
  }

  @Test
  void changesNothing_ifAnotherClientWroteSinceTheRead() throws Exception {
    var read = read();
    sandboxes.set("web", "Running");

    assertThat(reason(client.write(WEB, TARGET, read, 0))).isEqualTo(Reason.CONFLICT);
    assertThat(sandboxes.mode("web")).isEqualTo("Running");
  }

  @Test
  void leavesItToReadyPods_whetherAnObjectRunsThatHasNeitherState() throws Exception {
    sandboxes.set("web", "Paused");

    var read = (Undecided) result(client.read(WEB, TARGET));

    assertThat(read.with(0).replicas()).isZero();
    assertThat(read.with(2).replicas()).isEqualTo(1);
    result(client.write(WEB, TARGET, read.with(0), 1));
    assertThat(sandboxes.mode("web")).isEqualTo("Running");
  }

  @Test
  void saysWhichFieldsAreNotStored_asTheKindLacksThemOrAWebhookChangesThem() throws Exception {
    server.store().onAdmission(sandboxes.kind(), object -> {
      ((ObjectNode) object.path("spec")).remove("mode");
      return object;
    });

    var refused = (Refused) result(client.write(WEB, TARGET, read(), 1));

    assertThat(refused.reason()).isEqualTo(Reason.INVALID);
    assertThat(refused.message()).isEqualTo("cannot patch Sandbox web in namespace shop: the"
        + " Kubernetes API stored other values of spec.mode: the kind has no such field, or an"
        + " admission webhook changes it");
  }

  @Test
  void toleratesAnotherValue_whereTheStateIsTheWantedOne() throws Exception {
    server.store().onAdmission(sandboxes.kind(), object -> {
      ((ObjectNode) object.path("spec")).put("image", "b");
      return object;
    });

    assertThat(((Found) result(client.write(WEB, TARGET, read(), 1))).replicas()).isEqualTo(1);
  }

  @ParameterizedTest(name = "{0} {1}: {2}")
  @CsvSource({"Sandbox, none, NOT_FOUND, cannot get Sandbox none in namespace shop: 404",
      "Sandbox, web/status, INVALID, get Sandbox web/status in namespace shop: a name is neither",
      "Sandbox, .., INVALID, get Sandbox .. in namespace shop: a name is neither . nor ..",
      "Sandbox, web%2Fstatus, INVALID, and has no / or %",
      "Rollout, web, NOT_SCALABLE, the API serves no Rollout in agents.x-k8s.io/v1alpha1"})
  void saysWhyAnObjectCannotBeRead(String kind, String name, Reason reason, String message)
      throws Exception {
    var refused = (Refused) result(client.read(WEB, target(kind, name)));

    assertThat(refused.reason()).isEqualTo(reason);
    assertThat(refused.message()).contains(message);
  }

  @Test
  void readsAndPatchesNoKind_thatTheSettingDoesNotName() throws Exception {
    var none = new PatchClient(session::scaling, LONG, Set.of("pods"));

    var refused = (Refused) result(none.read(WEB, TARGET));

    assertThat(refused.reason()).isEqualTo(Reason.FORBIDDEN);
    assertThat(refused.message()).startsWith("sandboxes.agents.x-k8s.io may not be patched by this"
        + " installation");
    assertThat(server.faults().journal().calls(Match.requests(Verb.GET, Verb.PATCH)
        .of(sandboxes.kind()))).isEmpty();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"403, FORBIDDEN", "422, INVALID", "429, UNAVAILABLE", "500, UNAVAILABLE"})
  void distinguishesRefusals(int status, Reason reason) throws Exception {
    var read = read();
    server.faults().add(Match.requests(Verb.PATCH), Fault.Answer.status(status));

    assertThat(reason(client.write(WEB, TARGET, read, 1))).isEqualTo(reason);
    assertThat(sandboxes.mode("web")).isEqualTo("Suspended");
  }

  private static Reason reason(CompletableFuture<ScaleApiResult> answer) throws Exception {
    return ((Refused) result(answer)).reason();
  }
}
