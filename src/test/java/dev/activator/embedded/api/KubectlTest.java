package dev.activator.embedded.api;

import static dev.activator.embedded.api.Objects.labelled;
import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.DEPLOYMENT;
import static dev.activator.embedded.api.store.BuiltInKinds.EVENT;
import static dev.activator.embedded.api.store.BuiltInKinds.POD;
import static dev.activator.embedded.api.store.BuiltInKinds.REVISION;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.PodProcessRegistry.Running;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

/**
 * kubectl does what people do with it, and finds nothing to warn of; skipped where it is not
 * installed.
 */
class KubectlTest {
  private static final String DEPLOYMENT_YAML = """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: it}
      spec:
        replicas: 1
        selector: {matchLabels: {a: b}}
        template:
          metadata: {labels: {a: b}}
          spec: {containers: [{name: c, command: ["%s"]}]}
      """;
  private static final String SERVICE_YAML = """
      apiVersion: serving.knative.dev/v1
      kind: Service
      metadata: {name: it}
      spec: {template: {spec: {containers: [{command: ["%s"]}]}}}
      """;
  private static final String ENDPOINTS_YAML = """
      apiVersion: v1
      kind: Endpoints
      metadata: {name: it}
      subsets: [{addresses: [{ip: "%s"}], ports: [{name: http, port: 80}]}]
      """;
  private static final String MAP_YAML = """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: it}
      data: {k: "%s"}
      """;

  @TempDir
  private static Path home;
  private static EmbeddedApi api;
  private static ApiStore store;
  private static Kubectl kubectl;

  @BeforeAll
  static void start() {
    assumeTrue(Files.isExecutable(Kubectl.COMMAND),
        "kubectl is not installed at " + Kubectl.COMMAND);
    api = EmbeddedApi.start();
    store = api.store();
    ScaledServiceCrd.createIn(store);
    kubectl = new Kubectl(api.url(), home);
  }

  @AfterAll
  static void stop() {
    if (api != null) {
      api.close();
    }
  }

  @AfterEach
  void leaveNothing() {
    for (var kind : store.kinds().all()) {
      if (kind.namespaced()) {
        store.list(kind)
            .forEach(one -> store.delete(kind, ObjectMeta.namespace(one), ObjectMeta.name(one)));
      }
    }
  }

  @Test
  @DisplayName("discovers all kinds, with an empty cache")
  void reportsTheCurrentObjects() {
    assertThat(kubectl.ok("api-resources")).contains("ksvc", "deployments", "endpoints");
    assertThat(kubectl.ok("version")).contains("Server Version: v1.36.2");
    assertThat(kubectl.ok("get", "--raw", "/readyz")).isEqualTo("ok");
    assertThat(kubectl.run("get", "pods", "-A").err()).isEqualTo("No resources found");
    assertThat(kubectl.fails("get", "nothing")).contains("doesn't have a resource type");
  }

  @ParameterizedTest(name = "applies {0} new, unchanged, changed, and as dry run")
  @CsvSource({"deployment.apps", "service.serving.knative.dev", "endpoints", "configmap"})
  void appliesWhatIsNewChangedAndUnchanged(String kind) {
    String yaml = yaml(kind);
    String it = kind + "/it ";
    var first = file(yaml.formatted("10.0.0.1"));
    var second = file(yaml.formatted("10.0.0.2"));

    assertThat(kubectl.ok("apply", "-f", first, "--dry-run=server"))
        .isEqualTo(it + "created (server dry run)");
    assertThat(kubectl.ok("apply", "-f", first)).isEqualTo(it + "created");
    assertThat(kubectl.ok("apply", "-f", first)).isEqualTo(it + "unchanged");
    assertThat(kubectl.run("diff", "-f", first)).isEqualTo(new Kubectl.Run(0, "", ""));
    assertThat(kubectl.run("diff", "-f", second).out()).contains("+", "10.0.0.2");
    assertThat(kubectl.ok("apply", "-f", second)).isEqualTo(it + "configured");
    assertThat(kubectl.ok("get", kind, "it", "-o", "yaml")).contains("10.0.0.2")
        .doesNotContain("10.0.0.1");
  }

  @ParameterizedTest(name = "applies {0} on the server, again, changed, as another")
  @CsvSource({"deployment.apps", "service.serving.knative.dev", "configmap"})
  void appliesOnTheServer(String kind) {
    String applied = kind + "/it serverside-applied";
    var first = file(yaml(kind).formatted("10.0.0.1"));
    var second = file(yaml(kind).formatted("10.0.0.2"));

    assertThat(kubectl.ok("apply", "--server-side", "-f", first)).isEqualTo(applied);
    assertThat(kubectl.ok("apply", "--server-side", "-f", first)).isEqualTo(applied);
    assertThat(kubectl.ok("apply", "--server-side", "-f", second)).isEqualTo(applied);
    assertThat(kubectl.fails("apply", "--server-side", "--field-manager=other", "-f", first))
        .startsWith("error: Apply failed with 1 conflict: conflict with \"kubectl\": .");
    assertThat(kubectl.ok("apply", "--server-side", "--field-manager=other", "--force-conflicts",
        "-f", first)).isEqualTo(applied);
    assertThat(kubectl.ok("get", kind, "it", "-o", "yaml")).contains("10.0.0.1")
        .doesNotContain("managedFields");
    assertThat(kubectl.ok("get", kind, "it", "-o", "yaml", "--show-managed-fields"))
        .contains("manager: other", "operation: Apply", "f:");
  }

  @Test
  void removesWhatTheServerSideManifestNoLongerHas_andTakesOverFromClientSideApply() {
    var map = MAP_YAML.replace("{k: \"%s\"}", "%s");
    kubectl.ok("apply", "-f", file(map.formatted("{k: a, l: b}")));
    kubectl.ok("patch", "cm", "it", "-p", "{\"data\":{\"m\":\"c\"}}");

    assertThat(kubectl.ok("apply", "--server-side", "-f", file(map.formatted("{k: z}"))))
        .as("no conflict with the client's own apply")
        .isEqualTo("configmap/it serverside-applied");
    assertThat(store.find(CONFIG_MAP, "default", "it").get("data"))
        .as("l was applied by the same user, m by another").isEqualTo(parse("{'k':'z','m':'c'}"));
    assertThat(kubectl.ok("apply", "view-last-applied", "cm", "it")).contains("k: z")
        .doesNotContain("l: b");
    assertThat(kubectl.ok("apply", "-f", file(map.formatted("{k: w}"))))
        .as("back on the client's side").isEqualTo("configmap/it configured");
  }

  @Test
  @DisplayName("patches, labels, annotates, edits and replaces")
  void changesWhatIsThere() {
    store.create(CONFIG_MAP, with(named("it"), "k", "before"));

    kubectl.ok("patch", "cm", "it", "-p", "{\"data\":{\"a\":\"1\"}}");
    kubectl.ok("patch", "cm", "it", "--type=merge", "-p", "{\"data\":{\"b\":\"2\"}}");
    kubectl.ok("patch", "cm", "it", "--type=json", "-p",
        "[{\"op\":\"add\",\"path\":\"/data/c\",\"value\":\"3\"}]");
    kubectl.ok("label", "cm", "it", "l=m");
    kubectl.ok("annotate", "cm", "it", "n=o");
    assertThat(kubectl.ok("edit", "cm", "it")).isEqualTo("configmap/it edited");
    var replacement = file(kubectl.ok("get", "cm", "it", "-o", "yaml").replace("\"3\"", "\"4\""));
    assertThat(kubectl.ok("replace", "-f", replacement)).isEqualTo("configmap/it replaced");

    var it = store.find(CONFIG_MAP, "default", "it");
    assertThat(it.get("data")).isEqualTo(parse("{'k':'after','a':'1','b':'2','c':'4'}"));
    assertThat(it.at("/metadata/labels/l").stringValue()).isEqualTo("m");
    assertThat(it.at("/metadata/annotations/n").stringValue()).isEqualTo("o");
    assertThat(kubectl.fails("replace", "-f", replacement)).contains("(Conflict)");
  }

  @Test
  @DisplayName("gets things in every form, selected by label and field")
  void showsThings() {
    store.create(CONFIG_MAP, labelled("a", "l", "1"));
    store.create(CONFIG_MAP, labelled("b", "l", "2"));
    var pod = with(named("p"), "k", "v");
    store.create(POD, pod);

    assertThat(names(kubectl.ok("get", "cm"))).containsExactly("NAME", "a", "b");
    assertThat(names(kubectl.ok("get", "cm", "-l", "l=1"))).containsExactly("NAME", "a");
    assertThat(names(kubectl.ok("get", "cm", "-l", "l in (1,2),l!=1", "--no-headers")))
        .containsExactly("b");
    assertThat(names(kubectl.ok("get", "cm", "--field-selector", "metadata.name=b",
        "--no-headers"))).containsExactly("b");
    assertThat(kubectl.ok("get", "cm", "-A")).contains("NAMESPACE", "default");
    assertThat(kubectl.ok("get", "cm", "--sort-by=.metadata.name", "-o", "name"))
        .isEqualTo("configmap/a\nconfigmap/b");
    assertThat(kubectl.ok("get", "cm", "--chunk-size=1", "-o", "name"))
        .isEqualTo("configmap/a\nconfigmap/b");
    assertThat(kubectl.ok("get", "pods")).contains("READY", "STATUS").doesNotContain("NODE");
    assertThat(kubectl.ok("get", "pods", "-o", "wide")).contains("READY", "IP", "NODE");
    assertThat(Json.MAPPER.readTree(kubectl.ok("get", "cm", "a", "-o", "json")))
        .isEqualTo(store.find(CONFIG_MAP, "default", "a"));
    assertThat(kubectl.ok("get", "all")).contains("pod/p");
    assertThat(kubectl.fails("get", "cm", "none"))
        .isEqualTo("Error from server (NotFound): configmaps \"none\" not found");
  }

  @Test
  @DisplayName("watches")
  void watches() {
    // given a watch that has shown what is there
    store.create(CONFIG_MAP, named("a"));
    var watch = kubectl.start("get", "cm", "-w", "--no-headers");
    try {
      await().until(() -> names(kubectl.soFar(watch)).contains("a"));

      // when more comes, then it shows that
      store.create(CONFIG_MAP, named("b"));
      store.create(CONFIG_MAP, named("c"));
      await().until(() -> names(kubectl.soFar(watch)).contains("c"));
      assertThat(names(kubectl.soFar(watch))).containsExactly("a", "b", "c");
    } finally {
      watch.destroyForcibly().onExit().join();
    }
  }

  @Test
  @DisplayName("waits for a condition, a field, and the end")
  void waits() {
    store.create(REVISION, named("r"));
    api.faults().journal().clear();
    var end = kubectl.start("wait", "--for=delete", "revision/r", "--timeout=120s");
    // Or it may begin when there is nothing to wait for.
    api.faults().journal().await(Match.requests(Verb.WATCH).of(REVISION), 1, Duration.ofMinutes(2));
    var ready = kubectl.start("wait", "--for=condition=Ready", "revision/r", "--timeout=120s");
    var field = kubectl.start("wait", "--for=jsonpath={.status.actualReplicas}=1", "revision/r",
        "--timeout=120s");

    store.updateStatus(REVISION, "default", "r", r -> r.set("status", parse(
        "{'actualReplicas':1,'conditions':[{'type':'Ready','status':'True'}]}")));

    assertThat(kubectl.output(ready).out()).endsWith("condition met");
    assertThat(kubectl.output(field).out()).endsWith("condition met");
    store.delete(REVISION, "default", "r");
    assertThat(kubectl.output(end).code()).isZero();
  }

  @Test
  @DisplayName("scales, and follows a rollout")
  void scales() {
    kubectl.ok("apply", "-f", file(DEPLOYMENT_YAML.formatted("i")));

    assertThat(kubectl.ok("scale", "deployment", "it", "--replicas=3"))
        .isEqualTo("deployment.apps/it scaled");
    assertThat(kubectl.ok("get", "deploy", "it")).contains("0/3");
    store.updateStatus(DEPLOYMENT, "default", "it", d -> d.set("status",
        parse("{'observedGeneration':2,'replicas':3,'updatedReplicas':3,'readyReplicas':3,"
            + "'availableReplicas':3}")));
    // Its list may be from before.
    assertThat(kubectl.ok("rollout", "status", "deployment", "it"))
        .endsWith("deployment \"it\" successfully rolled out");
  }

  @Test
  void keepsAnHpaAndWarnsThatNothingScalesByIt() {
    var manifest = file("""
        apiVersion: autoscaling/v2
        kind: HorizontalPodAutoscaler
        metadata: {name: it}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          minReplicas: 2
          maxReplicas: 9
          metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization}}}]
        """);
    var applied = kubectl.run("apply", "-f", manifest);

    assertThat(applied.out()).contains("horizontalpodautoscaler.autoscaling/it created");
    assertThat(applied.err()).contains("spec.maxReplicas: ignored in embedded mode: nothing here"
        + " scales by it");
    assertThat(kubectl.run("apply", "-f", manifest).out())
        .contains("horizontalpodautoscaler.autoscaling/it unchanged");
    assertThat(kubectl.ok("get", "hpa").lines().findFirst().orElse("").split("\\s+"))
        .containsExactly("NAME", "REFERENCE", "MINPODS", "MAXPODS", "AGE");
    kubectl.ok("delete", "hpa", "it");
  }

  @Test
  void showsAndScalesScaledServices() {
    var manifest = """
        apiVersion: activator.dev/v1alpha1
        kind: ScaledService
        metadata: {name: it}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: web, port: 80}
          maxReplicas: %s
          containerConcurrency: 1
        """;
    assertThat(kubectl.ok("apply", "-f", file(manifest.formatted("3"))))
        .isEqualTo("scaledservice.activator.dev/it created");
    assertThat(kubectl.ok("apply", "-f", file(manifest.formatted("3"))))
        .as("defaults change nothing").isEqualTo("scaledservice.activator.dev/it unchanged");

    assertThat(kubectl.ok("scale", "ssvc", "it", "--replicas=2"))
        .isEqualTo("scaledservice.activator.dev/it scaled");
    assertThat(store.find(ScaledServiceCrd.of(store), "default", "it")
        .at("/spec/minReplicas").asInt()).isEqualTo(2);
    assertThat(kubectl.ok("get", "ssvc").lines().findFirst().orElse("").split("\\s+"))
        .containsExactly("NAME", "TARGET", "STATE", "REPLICAS", "DESIRED", "ACTIVE", "READY",
            "REASON", "AGE");
    assertThat(kubectl.ok("get", "all")).contains("scaledservice.activator.dev/it");
    assertThat(kubectl.run("scale", "ssvc", "it", "--replicas=4").err())
        .contains("maxReplicas must be at least minReplicas");
    kubectl.ok("delete", "ssvc", "it");
  }

  @Test
  @DisplayName("describes a revision and a pod, with its events")
  void describes() {
    store.create(REVISION, named("r"));
    var pod = store.create(POD, spec("p", "{'containers':[{'name':'c','image':'i'}]}"));
    var event = parse("{'involvedObject':{'kind':'Pod','namespace':'default','name':'p','uid':'"
        + ObjectMeta.uid(pod) + "'},'type':'Normal','reason':'Started','message':'It has begun',"
        + "'firstTimestamp':'2026-11-21T10:00:00Z','lastTimestamp':'2026-11-21T10:00:00Z'}");
    event.setAll(named("e"));
    store.create(EVENT, event);

    assertThat(kubectl.ok("describe", "revision", "r")).contains("Name:", "Revision",
        "Events:", "<none>");
    assertThat(kubectl.ok("describe", "pod", "p")).contains("Image:", "Started", "It has begun");
    assertThat(kubectl.ok("get", "events")).contains("LAST SEEN", "pod/p", "It has begun");
  }

  @Test
  @DisplayName("deletes one, some, all, and a namespace with what is in it")
  void deletes() {
    for (var name : List.of("a", "b", "c", "d")) {
      store.create(CONFIG_MAP, labelled(name, "l", name));
    }
    kubectl.ok("apply", "-f", file("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n"
        + MAP_YAML.replace("{name: it}", "{name: it, namespace: team}")));

    assertThat(kubectl.ok("delete", "cm", "a")).isEqualTo("configmap \"a\" deleted");
    assertThat(kubectl.ok("delete", "cm", "-l", "l=b")).isEqualTo("configmap \"b\" deleted");
    assertThat(kubectl.ok("delete", "cm", "--all").lines()).hasSize(2);
    assertThat(kubectl.ok("delete", "namespace", "team"))
        .isEqualTo("namespace \"team\" deleted");
    assertThat(kubectl.ok("delete", "cm", "a", "--ignore-not-found")).isEmpty();
    assertThat(store.list(CONFIG_MAP)).isEmpty();
    assertThat(kubectl.ok("get", "ns", "-o", "name")).doesNotContain("team");
  }

  @Test
  @DisplayName("uses a kind that it brought itself")
  void usesItsOwnKind() {
    var definition = file("""
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: widgets.example.com}
        spec:
          group: example.com
          scope: Namespaced
          names: {kind: Widget, plural: widgets, singular: widget, shortNames: [wd]}
          versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object}}
            additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
        """);
    kubectl.ok("apply", "-f", definition);
    kubectl.ok("wait", "--for=condition=Established", "crd/widgets.example.com");

    kubectl.ok("apply", "-f", file(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n"));
    assertThat(kubectl.ok("get", "wd").lines().map(line -> line.replaceAll(" +", " ").strip()))
        .containsExactly("NAME SIZE", "w 3");
    kubectl.ok("delete", "-f", definition);
    assertThat(kubectl.fails("get", "widgets.example.com")).contains("resource");
  }

  @Test
  @DisplayName("shows what a pod printed, and follows it")
  void showsLogs() {
    store.create(POD, spec("talker", "{'containers':[{'name':'c','image':'i'}]}"));
    store.podLogs().begin("default", "talker").append(store.now(), "before");
    var log = store.podLogs().begin("default", "talker");
    log.append(store.now(), "one");
    log.append(store.now(), "two");

    assertThat(kubectl.ok("logs", "talker")).isEqualTo("one\ntwo");
    assertThat(kubectl.ok("logs", "talker", "--tail", "1", "--since", "1h")).isEqualTo("two");
    assertThat(kubectl.ok("logs", "talker", "--previous")).isEqualTo("before");
    log.end();
    assertThat(kubectl.ok("logs", "-f", "talker", "-c", "c")).isEqualTo("one\ntwo");
  }

  @Test
  @DisplayName("creates what kubectl sends in protobuf")
  void createsWithoutAManifest() {
    assertThat(kubectl.ok("create", "configmap", "a", "--from-literal=k=v"))
        .isEqualTo("configmap/a created");
    assertThat(kubectl.ok("create", "secret", "generic", "a", "--from-literal=k=v"))
        .isEqualTo("secret/a created");
    assertThat(kubectl.ok("create", "serviceaccount", "a")).isEqualTo("serviceaccount/a created");
    assertThat(kubectl.ok("create", "namespace", "b")).isEqualTo("namespace/b created");
    var deployment = kubectl.run("create", "deployment", "a", "--image=i", "--replicas=0", "--",
        "sleep", "9");

    assertThat(deployment.out()).isEqualTo("deployment.apps/a created");
    assertThat(deployment.err()).isEqualTo("Warning: spec.template.spec.containers[0].image:"
        + " ignored in embedded mode: no image runs here; the command runs on this machine");
    assertThat(store.find(CONFIG_MAP, "default", "a").get("data")).isEqualTo(parse("{'k':'v'}"));
    assertThat(store.find(DEPLOYMENT, "default", "a").at("/spec/replicas").intValue(-1)).isZero();
    assertThat(kubectl.ok("get", "secret", "a", "-o", "jsonpath={.data.k}")).isEqualTo("dg==");
    kubectl.ok("delete", "namespace", "b");
  }

  @Test
  @DisplayName("gets the unknown fields of a manifest")
  void warnsOfIgnoredFields_andRefusesUnknownOnes() {
    String yaml = SERVICE_YAML.formatted("a").replace("containers",
        "volumes: [{name: v}], containers");
    var warned = kubectl.run("apply", "-f", file(yaml));

    assertThat(warned.out()).isEqualTo("service.serving.knative.dev/it created");
    assertThat(warned.err()).isEqualTo("Warning: spec.template.spec.volumes: ignored in embedded"
        + " mode: processes see the files of this machine");
    assertThat(kubectl.fails("apply", "-f", file(yaml.replace("command", "comand")))).contains(
        "unknown field \"spec.template.spec.containers[0].comand\", did you mean \"command\"?");
    assertThat(kubectl.run("apply", "--validate=warn", "-f",
        file(yaml.replace("[{command", "[{env: [], comand"))).err()).contains("Warning: unknown");
    assertThat(kubectl.fails("create", "-f",
        file("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: x}\n")))
        .contains("no matches for kind \"PodDisruptionBudget\" in version \"policy/v1\"");
  }

  @ParameterizedTest(name = "explains {0}")
  @CsvSource(delimiter = '|', textBlock = """
      pod.spec                          | FIELD: spec <PodSpec>
      pod.spec.containers.env           | Name of the environment variable.
      pod.spec.volumes.configMap        | FIELD: configMap <ConfigMapVolumeSource>
      deployment.spec.strategy          | FIELD: strategy <DeploymentStrategy>
      ksvc.spec.template                | The next revision. Each change makes a new one.
      ksvc.spec.template.spec           | containerConcurrency\t<integer>
      ssvc.spec.target                  | How many requests at once each replica should have.
      podautoscaler.spec                | FIELD: spec <Object>
      """)
  void explains(String path, String expected) {
    assertThat(kubectl.ok("explain", path)).contains(expected.replace("\\t", "\t"));
  }

  @Test
  void explainsEveryKind() {
    for (var kind : store.kinds().all()) {
      assertThat(kubectl.ok("explain", kind.plural(), "--api-version=" + kind.apiVersion()))
          .contains("KIND:       " + kind.kind(), "metadata\t<ObjectMeta>");
    }
    assertThat(kubectl.fails("explain", "pod.spec.nothing"))
        .contains("field \"nothing\" does not exist");
  }

  @Test
  void answersWhatTheUserMayDo_andWhoItIs() {
    assertThat(kubectl.ok("auth", "can-i", "create", "pods")).isEqualTo("yes");
    assertThat(kubectl.ok("auth", "can-i", "get", "/logs")).isEqualTo("yes");
    assertThat(kubectl.ok("auth", "can-i", "--list")).contains("*.*", "[*]");
    assertThat(kubectl.ok("auth", "whoami")).contains("system:anonymous");
  }

  @Test
  void runsACommandBesideAPodsProcess() {
    store.create(POD, spec("p", "{'containers':[{'name':'c','image':'i'}]}"));
    store.podProcesses().began("default", "p", new Running(() -> 0, () -> {
      var builder = new ProcessBuilder();
      builder.environment().put("ITS", "own");
      return builder;
    }));

    var ran = kubectl.run("exec", "p", "--", "sh", "-c", "echo $ITS; echo bad >&2; exit 3");
    assertThat(ran).isEqualTo(new Kubectl.Run(3, "own",
        "bad\ncommand terminated with exit code 3"));
    assertThat(kubectl.ok("exec", "p", "-c", "c", "--", "head", "-c", "3000000", "/dev/zero"))
        .hasSize(3_000_000);
    assertThat(kubectl.ok("exec", "-i", "p", "--", "wc", "-c")).as("the input ends")
        .isEqualTo("0");
    assertThat(kubectl.fails("exec", "p", "--", "nosuchprogram")).contains("nosuchprogram");
    assertThat(kubectl.fails("exec", "p", "-c", "other", "--", "ls"))
        .contains("container other is not valid for pod p");
    store.podProcesses().ended("default", "p");
  }

  @Test
  void forwardsConnectionsToAPod() throws IOException {
    try (var server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      Thread.startVirtualThread(() -> echo(server));
      store.create(POD, spec("p", "{'containers':[{'name':'c','ports':[{'containerPort':"
          + server.getLocalPort() + "},{'containerPort':1}]}]}"));
      store.updateStatus(POD, "default", "p",
          pod -> pod.set("status", parse("{'phase':'Running'}")));
      var forward = kubectl.start("port-forward", "--address=127.0.0.1", "p", ":8080", ":1");
      try {
        await().until(() -> kubectl.soFar(forward).lines().count() == 2);
        var ports = Pattern.compile("127.0.0.1:(\\d+)").matcher(kubectl.soFar(forward)).results()
            .map(found -> Integer.parseInt(found.group(1))).toList();

        var bytes = new byte[3_000_000];
        new Random(1).nextBytes(bytes);
        assertThat(echoed(ports.getFirst(), bytes)).isEqualTo(bytes);
        assertThat(echoed(ports.getFirst(), "short".getBytes(UTF_8))).asString()
            .isEqualTo("short");
        assertThat(echoed(ports.getLast(), new byte[0])).as("nothing listens there").isEmpty();
        assertThat(kubectl.output(forward).err()).contains("error forwarding port 1");
      } finally {
        forward.destroyForcibly().onExit().join();
      }
    }
  }

  private static byte[] echoed(int port, byte[] bytes) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(120_000);
      Thread.startVirtualThread(() -> {
        try {
          socket.getOutputStream().write(bytes);
          socket.shutdownOutput();
        } catch (IOException _) {
          // The reader fails then, too.
        }
      });
      return socket.getInputStream().readAllBytes();
    }
  }

  private static void echo(ServerSocket server) {
    while (!server.isClosed()) {
      try (var socket = server.accept()) {
        socket.getInputStream().transferTo(socket.getOutputStream());
      } catch (IOException _) {
        // The test is over.
      }
    }
  }

  @Test
  @DisplayName("gets a clear error for what does not exist")
  void isNotifiedOfWhatIsMissing() {
    store.create(POD, spec("p", "{'containers':[{'name':'c','image':'i'}]}"));

    assertThat(kubectl.fails("logs", "p")).contains(
        "container \"c\" in pod \"p\" is waiting to start: ContainerCreating");
    assertThat(kubectl.fails("exec", "p", "--", "ls"))
        .contains("the process of pod p does not run");
    assertThat(kubectl.fails("attach", "p")).contains("does not offer 'attach' of pods");
  }

  private static String yaml(String kind) {
    return switch (kind) {
      case "deployment.apps" -> DEPLOYMENT_YAML;
      case "endpoints" -> ENDPOINTS_YAML;
      case "configmap" -> MAP_YAML;
      default -> SERVICE_YAML;
    };
  }

  /** The first word of each line. */
  private static List<String> names(String table) {
    return table.lines().map(line -> line.split(" ", 2)[0]).toList();
  }

  private static ObjectNode spec(String name, String spec) {
    var object = named(name);
    object.set("spec", parse(spec));
    return object;
  }

  private static String file(String yaml) {
    try {
      return Files.writeString(Files.createTempFile(home, "it", ".yaml"), yaml).toString();
    } catch (IOException failure) {
      throw new java.io.UncheckedIOException(failure);
    }
  }
}
