import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.File;
import java.time.Duration;
import java.util.Collections;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The calls of fabric8's client: each row is a line of JSON, its title and what the program saw. */
class Fabric8 {
  private static final String NS = "fabric8";
  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  static void row(String title, Object value) {
    System.out.println(JSON.asJson(List.of(title, value)));
  }

  static void call(String title, Callable<?> call) {
    try {
      var value = call.call();
      row(title, Map.of("value", value == null ? "null" : value));
    } catch (KubernetesClientException e) {
      var seen = new HashMap<String, Object>();
      seen.put("code", e.getCode());
      seen.put("status", e.getStatus());
      row(title, seen);
    } catch (Exception e) {
      row(title, Map.of("error", e.toString()));
    }
  }

  static ConfigMap map(String name, String... data) {
    var builder = new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(NS).addToLabels("it", "yes").endMetadata();
    for (int at = 0; at < data.length; at += 2) {
      builder.addToData(data[at], data[at + 1]);
    }
    return builder.build();
  }

  static void main() throws Exception {
    var config = Config.fromKubeconfig(new File(System.getenv("KUBECONFIG")));
    try (var client = new KubernetesClientBuilder().withConfig(config).build()) {
      run(client);
    }
    System.exit(0);
  }

  static void run(KubernetesClient client) throws Exception {
    client.resource(new NamespaceBuilder().withNewMetadata().withName(NS).endMetadata().build()).create();
    var maps = client.configMaps().inNamespace(NS);
    call("create", () -> client.resource(map("a", "k", "v")).create());
    call("create again", () -> client.resource(map("a")).create());
    call("create or update", () -> client.resource(map("a", "k", "2")).createOr(one -> one.update()));
    call("create, dry run", () -> client.resource(map("dry")).dryRun().create());
    call("get missing", () -> maps.withName("missing").get());
    call("require missing", () -> maps.withName("missing").require());
    call("edit", () -> maps.withName("a").edit(one -> new ConfigMapBuilder(one).addToData("e", "1").build()));
    call("edit that changes nothing", () -> maps.withName("a").edit(one -> one));
    call("update, old version", () -> client.resource(new ConfigMapBuilder(map("a")).editMetadata().withResourceVersion("1").endMetadata().build()).update());
    call("patch as text", () -> maps.withName("a").patch("{\"data\": {\"t\": \"1\"}}"));
    call("json patch", () -> maps.withName("a").patch(PatchContext.of(PatchType.JSON), "[{\"op\": \"add\", \"path\": \"/data/j\", \"value\": \"1\"}]"));
    call("merge patch", () -> maps.withName("a").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\": {\"m\": \"1\"}}"));
    call("strategic merge patch", () -> maps.withName("a").patch(PatchContext.of(PatchType.STRATEGIC_MERGE), "{\"data\": {\"s\": \"1\"}}"));
    call("apply", () -> client.resource(map("applied", "x", "1")).serverSideApply());
    call("apply, conflict", () -> client.resource(map("applied", "x", "2")).fieldManager("other").serverSideApply());
    call("apply, forced", () -> client.resource(map("applied", "x", "2")).fieldManager("other").forceConflicts().serverSideApply());
    call("apply what was read", () -> {
      var read = maps.withName("applied").get();
      return client.resource(read).serverSideApply();
    });
    for (int number = 0; number < 3; number++) {
      client.resource(map("l" + number)).create();
    }
    call("list, first page", () -> maps.withLabel("it", "yes").list(new ListOptionsBuilder().withLimit(2L).build()));
    call("list, second page", () -> {
      var first = maps.withLabel("it", "yes").list(new ListOptionsBuilder().withLimit(2L).build());
      return maps.withLabel("it", "yes").list(new ListOptionsBuilder().withLimit(2L).withContinue(first.getMetadata().getContinue()).build());
    });
    call("list, field selector", () -> maps.withField("metadata.name", "l1").list());
    call("list, unknown field", () -> maps.withField("spec.x", "l1").list());
    call("list, resourceVersion 0", () -> maps.withLabel("it", "yes").list(new ListOptionsBuilder().withResourceVersion("0").withLimit(1L).build()));

    watch(client);
    inform(client);
    elect(client);
    var deployment = new DeploymentBuilder().withNewMetadata().withName("d").withNamespace(NS).endMetadata().withNewSpec().withReplicas(0).withPaused(true)
        .withNewSelector().addToMatchLabels("app", "d").endSelector().withNewTemplate().withNewMetadata().addToLabels("app", "d").endMetadata().withNewSpec()
        .addNewContainer().withName("c").withImage("x").withCommand("sleep", "1").endContainer().endSpec().endTemplate().endSpec().build();
    var deployments = client.apps().deployments().inNamespace(NS);
    call("deployment", () -> client.resource(deployment).create());
    call("scale", () -> deployments.withName("d").scale(0));
    call("scale, as an object", () -> deployments.withName("d").scale(null));
    call("status", () -> deployments.withName("d").editStatus(one -> new DeploymentBuilder(one).editOrNewStatus().withReplicas(0).endStatus().build()));
    call("rolling restart", () -> {
      deployments.withName("d").rolling().resume();
      return deployments.withName("d").get().getSpec().getPaused();
    });
    call("lease", () -> client.resource(new LeaseBuilder().withNewMetadata().withName("l").withNamespace(NS).endMetadata().withNewSpec().withHolderIdentity("x").endSpec().build()).create());
    var things = new ResourceDefinitionContext.Builder().withGroup("").withVersion("v1").withKind("ConfigMap").withPlural("configmaps").withNamespaced(true).build();
    call("generic", () -> client.genericKubernetesResources(things).inNamespace(NS).withName("a").get());
    call("generic by discovery", () -> client.genericKubernetesResources("apps/v1", "Deployment").inNamespace(NS).list().getItems().size());
    call("delete, foreground", () -> deployments.withName("d").withPropagationPolicy(DeletionPropagation.FOREGROUND).delete());
    call("delete missing", () -> maps.withName("missing").delete());
    call("delete, and wait", () -> maps.withName("l1").withTimeout(5, TimeUnit.SECONDS).delete());
    call("delete, old version", () -> client.resource(new ConfigMapBuilder(map("a")).editMetadata().withResourceVersion("1").endMetadata().build()).lockResourceVersion("1").delete());
    call("wait until", () -> maps.withName("a").waitUntilCondition(one -> one != null, 2, TimeUnit.SECONDS).getMetadata().getName());
    call("delete by label", () -> maps.withLabel("it", "yes").delete());
    call("api resources", () -> client.getApiResources("coordination.k8s.io/v1"));
    call("version", () -> client.getKubernetesVersion().getMajor());
    call("supports", () -> client.supports(GenericKubernetesResource.class));
  }

  private static void watch(KubernetesClient client) throws Exception {
    var maps = client.configMaps().inNamespace(NS).withLabel("it", "yes");
    var seen = Collections.synchronizedList(new ArrayList<String>());
    var end = new CountDownLatch(1);
    try (var watch = maps.watch(new ListOptionsBuilder().withTimeoutSeconds(1L).build(), new Watcher<ConfigMap>() {
      @Override
      public void eventReceived(Action action, ConfigMap one) {
        seen.add(action + " " + one.getMetadata().getName());
      }

      @Override
      public void onClose(WatcherException cause) {
        seen.add("closed: " + cause.getMessage());
        end.countDown();
      }

      @Override
      public void onClose() {
        seen.add("closed");
        end.countDown();
      }
    })) {
      Thread.sleep(300);
      client.configMaps().inNamespace(NS).withName("l0").delete();
      Thread.sleep(500);
    }
    end.await(2, TimeUnit.SECONDS);
    row("watch", seen);
  }

  private static void inform(KubernetesClient client) throws Exception {
    var seen = Collections.synchronizedSet(new TreeSet<String>());
    try (var informer = client.configMaps().inNamespace(NS).withLabel("it", "yes").inform(new ResourceEventHandler<>() {
      @Override
      public void onAdd(ConfigMap one) {
        seen.add("add " + one.getMetadata().getName());
      }

      @Override
      public void onUpdate(ConfigMap before, ConfigMap after) {
        seen.add("update " + after.getMetadata().getName());
      }

      @Override
      public void onDelete(ConfigMap one, boolean unknown) {
        seen.add("delete " + one.getMetadata().getName() + " " + unknown);
      }
    })) {
      client.resource(map("l3")).create();
      client.configMaps().inNamespace(NS).withName("l2").delete();
      Thread.sleep(700);
      row("informer", Map.of("seen", seen, "watching", informer.isWatching()));
    }
  }

  private static void elect(KubernetesClient client) throws Exception {
    var events = Collections.synchronizedList(new ArrayList<String>());
    var led = new CountDownLatch(1);
    var elector = client.leaderElector().withConfig(new LeaderElectionConfigBuilder().withName("it").withLock(new LeaseLock(NS, "elected", "one"))
        .withLeaseDuration(Duration.ofSeconds(3)).withRenewDeadline(Duration.ofSeconds(2)).withRetryPeriod(Duration.ofMillis(300)).withReleaseOnCancel(true)
        .withLeaderCallbacks(new LeaderCallbacks(() -> {
          events.add("started");
          led.countDown();
        }, () -> events.add("stopped"), id -> events.add("leader " + id))).build()).build();
    var run = elector.start();
    led.await(5, TimeUnit.SECONDS);
    var leases = client.leases().inNamespace(NS).withName("elected");
    row("election, while it leads", Map.of("spec", leases.get().getSpec()));
    run.cancel(true);
    Thread.sleep(700);
    row("election, after it", Map.of("spec", leases.get().getSpec(), "events", events));
  }
}
