package dev.activator.embedded.runtime;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class EmbeddedEventRecorderTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(Clock.systemUTC());

  @BeforeEach
  void start() {
    new EmbeddedEventRecorder(store, loop).subscribe();
  }

  private List<String> events() {
    loop.advance(PodProcess.HEAD_START);
    return store.list(BuiltInKinds.EVENT).stream()
        .map(event -> event.at("/involvedObject/kind").asString() + " "
            + event.path("type").asString() + " " + event.path("reason").asString() + " "
            + event.path("count").asString() + ": " + event.path("message").asString())
        .toList();
  }

  @Test
  void writesAnEventOnlyAMomentLater() {
    store.create(BuiltInKinds.KNATIVE_SERVICE, named("a"));
    status(BuiltInKinds.KNATIVE_SERVICE, "{'latestCreatedRevisionName':'a-00001'}");

    loop.advance(PodProcess.HEAD_START.minusNanos(1));
    assertThat(store.list(BuiltInKinds.EVENT)).isEmpty();

    assertThat(events()).hasSize(1);
  }

  private void status(Kind kind, String status) {
    loop.run();
    store.updateStatus(kind, "default", "a", object -> {
      object.set("status", parse(status));
      return object;
    });
  }

  private static String container(String more) {
    return "{'containerStatuses':[{'name':'c'," + more + "}]";
  }

  @Test
  void reportsTheLifeOfAPod() {
    var assigned = named("a");
    assigned.putObject("spec").put("nodeName", "localhost");
    var pod = store.create(BuiltInKinds.POD, assigned);
    status(BuiltInKinds.POD,
        container("'restartCount':0,'state':{'running':{'startedAt':'t1'}}") + "}");
    status(BuiltInKinds.POD, container("'restartCount':0,'state':{'running':{'startedAt':'t1'}}")
        + ",'conditions':[{'type':'Ready','status':'True'}]}");
    for (int run = 0; run < 3; run++) {
      status(BuiltInKinds.POD, container("'restartCount':" + run + ",'state':{'waiting':{'reason':"
          + "'CrashLoopBackOff','message':'back-off'}},'lastState':{'terminated':{'exitCode':1,"
          + "'message':'no disk'}}") + "}");
      status(BuiltInKinds.POD, container("'restartCount':" + (run + 1) + ",'state':{'running':"
          + "{'startedAt':'t1'}}") + "}");
    }
    store.delete(BuiltInKinds.POD, "default", "a");

    assertThat(events()).containsExactly("Pod Normal Scheduled 1: Assigned to this machine",
        "Pod Normal Started 4: Started container c", "Pod Normal Ready 1: Container c is ready",
        "Pod Warning Crashed 3: Container c ended with exit code 1: no disk",
        "Pod Warning BackOff 3: Back-off restarting failed container c",
        "Pod Normal Killing 1: Stopping container c");
    var event = store.list(BuiltInKinds.EVENT).getFirst();
    assertThat(event.at("/involvedObject/uid").asString()).isEqualTo(ObjectMeta.uid(pod));
    assertThat(event.path("firstTimestamp").asString()).matches("[-0-9]+T[:0-9]+Z");
  }

  @Test
  void deletesTheOldestEvent_beyondAThousand() {
    for (int i = 0; i <= EmbeddedEventRecorder.MAX_EVENTS; i++) {
      store.create(BuiltInKinds.POD, named("a" + i));
    }

    assertThat(events()).hasSize(EmbeddedEventRecorder.MAX_EVENTS);
    assertThat(store.list(BuiltInKinds.EVENT))
        .noneMatch(event -> event.at("/involvedObject/name").asString().equals("a0"));
  }

  @Test
  void writesNothingAboutANamespaceThatIsGone() {
    var pod = named("a");
    ObjectMeta.of(pod).put("namespace", "team");
    store.create(BuiltInKinds.POD, pod);
    loop.run();
    store.delete(BuiltInKinds.NAMESPACE, "", "team");

    assertThat(events()).isEmpty();
    assertThat(store.find(BuiltInKinds.NAMESPACE, "", "team")).isNull();
  }

  @Test
  void saysOfAServiceThatARevisionWasDeleted() {
    var service = store.create(BuiltInKinds.KNATIVE_SERVICE, named("a"));
    ObjectNode revision = named("a-00001");
    ControllerRefs.setController(revision, BuiltInKinds.KNATIVE_SERVICE, service);
    store.create(BuiltInKinds.REVISION, revision);
    loop.run();
    store.delete(BuiltInKinds.REVISION, "default", "a-00001");

    assertThat(events())
        .containsExactly("Service Normal RevisionDeleted 1: Deleted Revision a-00001");
  }

  @Test
  void reportsWhyAPodIsNotReady() {
    store.create(BuiltInKinds.POD, named("a"));
    status(BuiltInKinds.POD, container("'state':{'waiting':{'reason':'CreateContainerConfigError',"
        + "'message':'secret \\\"s\\\" not found'}}") + "}");
    status(BuiltInKinds.POD, container("'restartCount':0,'state':{'running':{'startedAt':'t1'}}")
        + ",'conditions':[{'type':'Ready','status':'False','message':'nothing listens'}]}");

    assertThat(events()).contains("Pod Warning Failed 1: secret \"s\" not found",
        "Pod Warning Unhealthy 1: nothing listens");
  }

  @Test
  void reportsTheScaleOfADeploymentAndTheRevisionsOfAService() {
    var deployment = store.create(BuiltInKinds.DEPLOYMENT, named("a"));
    ObjectNode set = named("a-1");
    ControllerRefs.setController(set, BuiltInKinds.DEPLOYMENT, deployment);
    set.set("spec", parse("{'replicas':0}"));
    store.create(BuiltInKinds.REPLICA_SET, set);
    loop.run();
    for (int replicas : new int[]{2, 0, 2}) {
      store.edit(BuiltInKinds.REPLICA_SET, "default", "a-1", found -> {
        found.withObjectProperty("spec").put("replicas", replicas);
        return found;
      });
    }
    store.create(BuiltInKinds.KNATIVE_SERVICE, named("a"));
    status(BuiltInKinds.KNATIVE_SERVICE, "{'latestCreatedRevisionName':'a-00001',"
        + "'latestReadyRevisionName':'a-00001'}");
    status(BuiltInKinds.KNATIVE_SERVICE, "{'latestCreatedRevisionName':'a-00002',"
        + "'latestReadyRevisionName':'a-00001','conditions':[{'type':'Ready','status':'False',"
        + "'reason':'ExitCode1','message':'it ended'}]}");

    assertThat(events()).containsExactly("Deployment Normal ScalingReplicaSet 2: Scaled up replica"
        + " set a-1 from 0 to 2",
        "Deployment Normal ScalingReplicaSet 1: Scaled down replica set a-1 from 2 to 0",
        "Service Normal Created 1: Created Revision a-00001",
        "Service Normal RevisionReady 1: Revision a-00001 takes requests",
        "Service Normal Created 1: Created Revision a-00002",
        "Service Warning ExitCode1 1: it ended");
  }
}
