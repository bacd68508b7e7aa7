package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.autoscaler.FakeScales;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ScaleClientsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef DEPLOYMENT = new ScaleTargetRef("apps/v1", "Deployment",
      "web");
  private static final Machine MACHINE = new Machine("Machine", "web");

  private final FakeScales deployments = new FakeScales();
  private final FakeScales machines = new FakeScales();
  private final List<ScaleApiResult> written = new ArrayList<>();
  private final ScaleClients clients = new ScaleClients(() -> {
    throw new IllegalStateException();
  }, written::add).add(ScaleTargetRef.class, deployments).add(Machine.class, machines);

  private record Machine(String kind, String name) implements ScaleTarget {}

  @Test
  void readsAndWritesATarget_byTheClientOfItsType() {
    deployments.set(WEB, 1);
    machines.set(WEB, 0);

    assertThat(clients.read(WEB, DEPLOYMENT).join()).isEqualTo(new Found(1, 1, "1"));
    var read = (Found) clients.read(WEB, MACHINE).join();
    assertThat(clients.write(WEB, MACHINE, read, 1).join()).isEqualTo(new Found(1, 1, "2"));

    assertThat(machines.writes).containsExactly(1);
    assertThat(deployments.writes).isEmpty();
    assertThat(written).containsExactly(new Found(1, 1, "2"));
  }

  @Test
  void preparesAScaleDownInEachWayThatWasAdded_andNeverFails() {
    var prepared = new ArrayList<RevisionId>();
    var slow = new CompletableFuture<Void>();
    assertThat(clients.prepareScaleDown(WEB)).isCompleted();
    clients.beforeScaleDown(id -> {
      prepared.add(id);
      return CompletableFuture.failedFuture(new IllegalStateException("no API"));
    });
    assertThat(clients.prepareScaleDown(WEB)).isCompleted();
    clients.beforeScaleDown(_ -> slow);

    var both = clients.prepareScaleDown(WEB);
    assertThat(both).isNotDone();
    slow.complete(null);

    assertThat(both).isCompleted();
    assertThat(prepared).containsExactly(WEB, WEB);
  }

  @Test
  void namesTheClientThatHasSetTheReplicas() {
    deployments.managerOfReplicas = "argocd-controller";

    assertThat(clients.managerOfReplicas(WEB, DEPLOYMENT).join()).isEqualTo("argocd-controller");
    assertThat(clients.managerOfReplicas(WEB, MACHINE).join()).isEmpty();
  }
}
