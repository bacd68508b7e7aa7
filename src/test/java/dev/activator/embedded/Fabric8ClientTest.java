package dev.activator.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.activator.embedded.api.EmbeddedApiServer;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.runtime.LocalRuntime;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.loop.NettyLoop;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;

/** An unmodified fabric8 client does with embedded mode what programs do with a cluster. */
class Fabric8ClientTest {
  private static final String DEPLOYMENT = """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web, labels: {app: web}}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers:
            - name: c
              command: [sh, -c, "echo hello from $GREETING; exec sleep 1000"]
              env: [{name: GREETING, value: first}]
              readinessProbe: {exec: {command: ["true"]}}
      """;

  private static final MultiThreadIoEventLoopGroup THREADS = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private static LocalRuntime runtime;
  private static EmbeddedApiServer server;
  private static KubernetesClient client;

  @BeforeAll
  static void start() {
    var loop = new NettyLoop(THREADS.next());
    var store = new ApiStore(Clock.systemUTC());
    ScaledServiceCrd.createIn(store);
    runtime = new LocalRuntime(store, loop, new LocalRuntime.Dependencies(Clock.systemUTC(),
        new SecureRandom(), false, (_, _) -> true, _ -> false, _ -> 0));
    runtime.start(8012);
    server = new EmbeddedApiServer(store, loop, new InetSocketAddress("127.0.0.1", 0));
    server.start();
    client = new KubernetesClientBuilder().withConfig(new ConfigBuilder(Config.empty())
        .withMasterUrl("http://127.0.0.1:" + server.port()).withNamespace("default")
        .withRequestRetryBackoffLimit(0).build()).build();
  }

  @AfterAll
  static void stop() {
    client.close();
    runtime.stop();
    server.stop();
    THREADS.shutdownGracefully(0, 5, TimeUnit.SECONDS);
  }

  @AfterEach
  void deleteAll() {
    client.apps().deployments().withName("web")
        .withPropagationPolicy(DeletionPropagation.FOREGROUND)
        .withTimeout(30, TimeUnit.SECONDS).delete();
    client.configMaps().delete();
    client.secrets().delete();
  }

  private static ConfigMap map(String name, String value) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).addToLabels("l", value)
        .endMetadata().addToData("k", value).build();
  }

  @Test
  void createsGetsListsAndDeletes() {
    var created = client.resource(map("a", "1")).create();
    client.resource(map("b", "1")).create();
    client.resource(map("c", "2")).create();

    assertThat(created.getMetadata().getUid()).isNotEmpty();
    assertThat(client.configMaps().withName("a").get().getData()).containsEntry("k", "1");
    assertThat(client.configMaps().withName("none").get()).isNull();
    assertThat(names(client.configMaps().withLabel("l", "1").list().getItems()))
        .containsExactly("a", "b");
    assertThat(names(client.configMaps().withLabelNotIn("l", "1").list().getItems()))
        .containsExactly("c");
    assertThat(names(client.configMaps().withField("metadata.name", "b").list().getItems()))
        .containsExactly("b");
    assertThat(names(client.configMaps().inAnyNamespace().withLabel("l").list().getItems()))
        .containsExactly("a", "b", "c");
    var page = client.configMaps().list(new ListOptionsBuilder().withLimit(2L).build());
    assertThat(names(page.getItems())).containsExactly("a", "b");
    var rest = client.configMaps().list(new ListOptionsBuilder().withLimit(2L)
        .withContinue(page.getMetadata().getContinue()).build());
    assertThat(names(rest.getItems())).containsExactly("c");

    assertThat(client.configMaps().withName("a").delete()).hasSize(1);
    assertThat(client.configMaps().withName("a").get()).isNull();
    client.configMaps().withLabel("l", "1").delete();
    assertThat(names(client.configMaps().list().getItems())).containsExactly("c");
    assertThatThrownBy(() -> client.resource(map("c", "3")).create())
        .isInstanceOfSatisfying(KubernetesClientException.class,
            e -> assertThat(e.getStatus().getReason()).isEqualTo("AlreadyExists"));
  }

  private static List<String> names(List<ConfigMap> items) {
    return items.stream().map(item -> item.getMetadata().getName()).toList();
  }

  @Test
  void updatesInEveryWay() {
    var maps = client.configMaps();
    var first = client.resource(map("a", "1")).create();

    maps.withName("a").edit(found -> new ConfigMapBuilder(found).addToData("edit", "x").build());
    maps.withName("a").patch(PatchContext.of(PatchType.STRATEGIC_MERGE),
        "{\"data\":{\"s\":\"x\"}}");
    maps.withName("a").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"m\":\"x\"}}");
    maps.withName("a").patch(PatchContext.of(PatchType.JSON),
        "[{\"op\":\"add\",\"path\":\"/data/j\",\"value\":\"x\"}]");

    assertThat(maps.withName("a").get().getData())
        .isEqualTo(Map.of("k", "1", "edit", "x", "s", "x", "m", "x", "j", "x"));
    assertThatThrownBy(() -> client.resource(first).update())
        .isInstanceOfSatisfying(KubernetesClientException.class,
            e -> assertThat(e.getCode()).isEqualTo(409));
    assertThat(client.resource(map("a", "4"))
        .createOr(io.fabric8.kubernetes.client.dsl.NonDeletingOperation::update)
        .getData()).isEqualTo(Map.of("k", "4"));
    assertThat(client.resource(map("dry", "1")).dryRun().create().getData()).isNotEmpty();
    assertThat(maps.withName("dry").get()).isNull();
  }

  @Test
  void appliesOnTheServer() {
    client.resource(map("a", "1")).fieldManager("one").serverSideApply();

    assertThatThrownBy(() -> client.resource(map("a", "2")).fieldManager("two").serverSideApply())
        .isInstanceOfSatisfying(KubernetesClientException.class,
            e -> assertThat(e.getMessage()).contains("conflict with \"one\""));
    client.resource(map("a", "2")).fieldManager("two").forceConflicts().serverSideApply();

    assertThat(client.configMaps().withName("a").get().getData()).containsEntry("k", "2");
  }

  @Test
  void watchesAndInforms() throws Exception {
    var seen = new CopyOnWriteArrayList<String>();
    var closed = new CompletableFuture<Void>();
    try (var _ = client.configMaps().withLabel("l", "1").watch(new Watcher<>() {
      @Override
      public void eventReceived(Action action, ConfigMap map) {
        seen.add(action + " " + map.getMetadata().getName());
      }

      @Override
      public void onClose(WatcherException cause) {
        closed.completeExceptionally(cause);
      }

      @Override
      public void onClose() {
        closed.complete(null);
      }
    }); var informer = client.configMaps().withLabel("l", "1").inform()) {
      client.resource(map("a", "1")).create();
      client.configMaps().withName("a")
          .edit(found -> new ConfigMapBuilder(found).addToData("more", "x").build());
      await().until(() -> informer.getIndexer().list().stream()
          .anyMatch(one -> one.getData().containsKey("more")));
      client.configMaps().withName("a").delete();
      await().untilAsserted(() -> {
        assertThat(seen).containsExactly("ADDED a", "MODIFIED a", "DELETED a");
        assertThat(informer.getIndexer().list()).isEmpty();
      });
    }
    closed.get(30, TimeUnit.SECONDS);
  }

  @Test
  void runsRollsBackScalesAndShowsADeployment() {
    client.load(stream(DEPLOYMENT)).create();
    var web = client.apps().deployments().withName("web");
    web.waitUntilReady(30, TimeUnit.SECONDS);

    await().untilAsserted(() -> assertThat(web.getLog()).contains("hello from first"));
    // The controller may write the status at the same moment.
    retried(web.rolling()::restart);
    await().atMost(Duration.ofSeconds(30)).until(() -> revision().equals("2"));
    retried(web.rolling()::undo);
    await().atMost(Duration.ofSeconds(30)).until(() -> revision().equals("3"));
    web.scale(2);
    await().atMost(Duration.ofSeconds(30)).until(
        () -> Integer.valueOf(2).equals(web.get().getStatus().getReadyReplicas()));
    assertThat(web.scale(1).getSpec().getReplicas()).isEqualTo(1);
    await().atMost(Duration.ofSeconds(30)).until(() -> pods().size() == 1);
    assertThat(client.apps().replicaSets().withLabel("app", "web").list().getItems())
        .isNotEmpty().allMatch(set -> set.getOwnerReferenceFor(web.get()).isPresent());
    assertThat(client.v1().events().withField("involvedObject.name", "web").list().getItems())
        .anyMatch(event -> event.getReason().equals("ScalingReplicaSet"));
  }

  private static void retried(Runnable write) {
    await().ignoreExceptionsMatching(
        e -> e instanceof KubernetesClientException failure && failure.getCode() == 409)
        .until(() -> {
          write.run();
          return true;
        });
  }

  private static String revision() {
    return client.apps().deployments().withName("web").get().getMetadata().getAnnotations()
        .getOrDefault("deployment.kubernetes.io/revision", "");
  }

  private static List<Pod> pods() {
    return client.pods().withLabel("app", "web").list().getItems();
  }

  @Test
  void executesAndReadsLogsInAPod() throws Exception {
    client.load(stream(DEPLOYMENT)).create();
    client.apps().deployments().withName("web").waitUntilReady(30, TimeUnit.SECONDS);
    var name = pods().getFirst().getMetadata().getName();
    var pod = client.pods().withName(name);

    var output = new ByteArrayOutputStream();
    try (var exec = pod.writingOutput(output).exec("sh", "-c", "echo $GREETING; exit 3")) {
      assertThat(exec.exitCode().get(30, TimeUnit.SECONDS)).isEqualTo(3);
    }
    assertThat(output.toString(StandardCharsets.UTF_8)).isEqualTo("first\n");
    var log = new ByteArrayOutputStream();
    try (var _ = pod.watchLog(log)) {
      await().untilAsserted(
          () -> assertThat(log.toString(StandardCharsets.UTF_8)).contains("hello from first"));
    }
    pod.waitUntilCondition(found -> found.getStatus().getPhase().equals("Running"), 30,
        TimeUnit.SECONDS);
    assertThat(pod.delete()).hasSize(1);
    await().atMost(Duration.ofSeconds(30))
        .until(() -> pods().size() == 1 && !pods().getFirst().getMetadata().getName()
            .equals(name));
  }

  @Test
  void servesKindsOfDefinitionsNamespacesAndSecrets() {
    var scaled = client.genericKubernetesResources("activator.dev/v1alpha1", "ScaledService");
    assertThat(scaled.list().getItems()).isEmpty();
    assertThat(client.apiextensions().v1().customResourceDefinitions().list().getItems())
        .extracting(one -> one.getSpec().getNames().getKind()).contains("ScaledService");
    var namespace = new NamespaceBuilder().withNewMetadata().withName("team").endMetadata().build();
    client.resource(namespace).create();
    client.resource(map("a", "1")).inNamespace("team").create();
    client.namespaces().withName("team").withTimeout(30, TimeUnit.SECONDS).delete();
    assertThat(client.configMaps().inNamespace("team").withName("a").get()).isNull();
    client.resource(new SecretBuilder().withNewMetadata().withName("s").endMetadata()
        .addToStringData("user", "admin").build()).create();
    assertThat(client.secrets().withName("s").get().getData()).containsEntry("user", "YWRtaW4=");
  }

  @Test
  void discoversAndMayDoEverything() {
    assertThat(client.getKubernetesVersion().getMajor()).isEqualTo("1");
    assertThat(client.getApiGroups().getGroups()).extracting(group -> group.getName())
        .contains("apps", "serving.knative.dev");
    assertThat(client.hasApiGroup("apps", true)).isTrue();
    assertThat(client.getApiResources("v1").getResources()).extracting(one -> one.getName())
        .contains("configmaps", "pods/log");
    var review = new SelfSubjectAccessReviewBuilder().withNewSpec().withNewResourceAttributes()
        .withVerb("get").withResource("pods").endResourceAttributes().endSpec().build();
    assertThat(client.authorization().v1().selfSubjectAccessReview().create(review).getStatus()
        .getAllowed()).isTrue();
  }

  @Test
  void electsALeader() throws Exception {
    var leads = new CompletableFuture<String>();
    var elector = client.leaderElector().withConfig(new LeaderElectionConfigBuilder()
        .withName("it").withLeaseDuration(Duration.ofSeconds(15))
        .withRenewDeadline(Duration.ofSeconds(10)).withRetryPeriod(Duration.ofSeconds(2))
        .withLock(new LeaseLock("default", "leader", "me"))
        .withLeaderCallbacks(new LeaderCallbacks(() -> {
        }, () -> {
        }, leads::complete)).build()).build();
    var running = elector.start();
    assertThat(leads.get(30, TimeUnit.SECONDS)).isEqualTo("me");
    assertThat(client.leases().withName("leader").get().getSpec().getHolderIdentity())
        .isEqualTo("me");
    running.cancel(true);
  }

  private static ByteArrayInputStream stream(String yaml) {
    return new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8));
  }
}
