package dev.activator.embedded.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.embedded.runtime.ServingController;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.VirtualLoop;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Mistakes of people who write manifests: each is refused or warned of, with path and remedy. */
class ManifestMistakesTest {
  private static final String SERVICES = "/apis/serving.knative.dev/v1/namespaces/default/services";
  private static final String DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
  private static final String CORE = "/api/v1/namespaces/default/";
  private static final String POD = "spec.template.spec.";
  private static final String CONTAINER = POD + "containers[0].";
  private static final String ANNOTATIONS = "spec.template.metadata.annotations.";

  @AutoClose
  private static EmbeddedApi api;
  @AutoClose
  private static Wire wire;

  @BeforeAll
  static void start() {
    api = EmbeddedApi.start();
    wire = new Wire(api.url(), api.port());
    ScaledServiceCrd.createIn(api.store());
    new ServingController(api.store(), new VirtualLoop(), "127.0.0.1",
        (_, _) -> true);
  }

  /** @param code 201 for a warning */
  record Mistake(String what, String path, String yaml, int code, String says) {
    @Override
    public String toString() {
      return what;
    }
  }

  static Stream<Mistake> mistakes() {
    return Stream.of(
        container("a misspelt command", "comand: [a]", 422, CONTAINER + "command: "),
        warned("a misspelt field", "command: [a], comand: [b]",
            "unknown field \"" + CONTAINER + "comand\", did you mean \"command\"?"),
        warned("a field with a longer name", "command: [a], enviroment: []",
            "unknown field \"" + CONTAINER + "enviroment\", did you mean \"env\"?"),
        warned("a field in other letters", "command: [a], ports: [{containerport: 1}]",
            "\"" + CONTAINER + "ports[0].containerport\", did you mean \"containerPort\"?"),
        warned("resources", "command: [a], resources: {limits: {cpu: 1}}",
            CONTAINER + "resources: ignored in embedded mode: processes share the CPU"),
        warned("an image beside a command", "command: [a], image: nginx",
            CONTAINER + "image: ignored in embedded mode: no image runs here"),
        warned("a mount", "command: [a], volumeMounts: [{name: v, mountPath: /v}]",
            CONTAINER + "volumeMounts: ignored in embedded mode: processes see the files"),
        warned("a field that means nothing here", "command: [a], tty: true",
            CONTAINER + "tty: ignored in embedded mode: it has no effect"),
        container("an image without a command", "image: nginx", 422,
            CONTAINER + "command: embedded mode runs local processes, not images: give the"),
        container("a command that is a text", "command: python3 app.py", 422,
            CONTAINER + "command: Invalid value: \"python3 app.py\": must be a list"),
        container("an argument that is a number", "command: [a], args: [8080]", 422,
            CONTAINER + "args[0]: Invalid value: 8080: must be a string; quote it: \"8080\""),
        container("a variable that is a number", "command: [a], env: [{name: A, value: 1}]", 422,
            CONTAINER + "env[0].value: Invalid value: 1: must be a string; quote it: \"1\""),
        container("variables that are no list", "command: [a], env: {A: b}", 422,
            CONTAINER + "env: Invalid value: {\"A\":\"b\"}: must be a list"),
        container("a quantity with a space", "command: [a], resources: {limits: {cpu: 1 core}}",
            422, CONTAINER + "resources.limits.cpu: Invalid value: \"1 core\": must be a quantity"),
        container("a probe's path that is a number", "command: [a], readinessProbe: {httpGet:"
            + " {path: 1}}", 422, CONTAINER + "readinessProbe.httpGet.path: Invalid value: 1"),
        spec("volumes", "volumes: [{name: v, emptyDir: {}}]", 201,
            POD + "volumes: ignored in embedded mode: processes see the files"),
        spec("an init container", "initContainers: [{name: i, image: i}]", 201,
            POD + "initContainers: ignored in embedded mode: only the one container runs"),
        spec("a security context", "securityContext: {runAsUser: 1}", 201,
            POD + "securityContext: ignored in embedded mode: processes are not isolated"),
        spec("affinity", "affinity: {nodeAffinity: {}}", 201,
            POD + "affinity: ignored in embedded mode: all processes run on this machine"),
        spec("a timeout that is a text", "timeoutSeconds: 30s", 422,
            POD + "timeoutSeconds: Invalid value: \"30s\": must be a whole number"),
        spec("too much concurrency", "containerConcurrency: 1001", 422,
            POD + "containerConcurrency: expected a number from 0 to 1000, not 1001"),
        spec("negative concurrency", "containerConcurrency: -1", 422,
            POD + "containerConcurrency: expected a number from 0 to 1000, not -1"),
        service("two containers", "spec: {template: {spec: {containers: [{command: [a]},"
            + " {command: [b]}]}}}", 422, POD + "containers: embedded mode runs exactly one"),
        service("no container", "spec: {template: {spec: {}}}", 422,
            POD + "containers: embedded mode runs exactly one container, not 0"),
        service("no template", "spec: {}", 422, "spec.template.spec: a Service needs a template"),
        template("a name for the revision", "name: first", 422,
            "spec.template.metadata.name: revisions are numbered here; leave the name out"),
        template("an annotation that is a number", "annotations: {autoscaling.knative.dev/target:"
            + " 10}", 422,
            ANNOTATIONS + "autoscaling.knative.dev/target: Invalid value: 10: must"
                + " be a string; quote it: \"10\""),
        template("fewer pods at most than at least",
            "annotations: {autoscaling.knative.dev/min-scale:"
                + " '5', autoscaling.knative.dev/max-scale: '2'}",
            422, ANNOTATIONS
                + "autoscaling.knative.dev/max-scale: max-scale=2 is less than min-scale=5"),
        template("a target that is no number", "annotations: {autoscaling.knative.dev/target: ten}",
            422, ANNOTATIONS + "autoscaling.knative.dev/target: "),
        template("a window that is too short", "annotations: {autoscaling.knative.dev/window: 1s}",
            422, ANNOTATIONS + "autoscaling.knative.dev/window: expected 6s <= 1s <= 1h0m0s"),
        template("a label that is a boolean", "labels: {a: true}", 422,
            "spec.template.metadata.labels.a: Invalid value: true: must be a string; quote it"),
        template("a misspelt annotation", "annotations: {autoscaling.knative.dev/min-scal: '1'}",
            201, ANNOTATIONS + "autoscaling.knative.dev/min-scal: ignored in embedded mode: no"
                + " annotation of this name has an effect; the nearest is"
                + " \"autoscaling.knative.dev/min-scale\""),
        template("a malformed rule",
            "annotations: {activator.dev/do-not-wake: '[{path: /healthz}]'}", 201,
            "spec.template.metadata, annotation activator.dev/do-not-wake[0] needs either respond"
                + " or refuse; it is ignored"),
        template("another autoscaler", "annotations: {autoscaling.knative.dev/class:"
            + " hpa.autoscaling.knative.dev}", 201,
            ANNOTATIONS + "autoscaling.knative.dev/class:"
                + " ignored in embedded mode"),
        new Mistake("a scaling annotation of the Service", SERVICES, "metadata: {name: x,"
            + " annotations: {autoscaling.knative.dev/min-scale: '1'}}", 422,
            "metadata.annotations.autoscaling.knative.dev/min-scale: Invalid value: autoscaling"
                + " annotations must be put under spec.template.metadata.annotations to work"),
        new Mistake("a gradual rollout", SERVICES, "metadata: {name: x,"
            + " annotations: {serving.knative.dev/rollout-duration: 380s}}\n"
            + "spec: {template: {spec: {containers: [{command: [a]}]}}}", 201,
            "metadata.annotations.serving.knative.dev/rollout-duration: ignored in embedded mode:"
                + " a new revision gets its whole share of the requests at once;"
                + " to raise it in steps, change spec.traffic"),
        new Mistake("a Service for the cluster only", SERVICES, "metadata: {name: x,"
            + " labels: {networking.knative.dev/visibility: cluster-local}}\n"
            + "spec: {template: {spec: {containers: [{command: [a]}]}}}", 201,
            "metadata.labels.networking.knative.dev/visibility: ignored in embedded mode: there is"
                + " no ingress here"),
        new Mistake("misspelt metadata", SERVICES, "metadata: {name: x, anotations: {}}\n"
            + "spec: {template: {spec: {containers: [{command: [a]}]}}}", 201,
            "unknown field \"metadata.anotations\", did you mean \"annotations\"?"),
        service("a misspelt percent",
            "spec: {traffic: [{percent: 100, pecrent: 1}], template: {spec:"
                + " {containers: [{command: [a]}]}}}",
            201,
            "unknown field \"spec.traffic[0].pecrent\", did you mean \"percent\"?"),
        new Mistake("replicas in words", DEPLOYMENTS, "metadata: {name: x}\n"
            + "spec: {replicas: three}", 422,
            "spec.replicas: Invalid value: \"three\": must be a whole number"),
        new Mistake("a Deployment of two containers", DEPLOYMENTS, "metadata: {name: x}\n"
            + "spec: {template: {spec: {containers: [{command: [a]}, {command: [b]}]}}}", 201,
            POD + "containers[1]: ignored in embedded mode: only the first container runs"),
        new Mistake("an unknown kind", "/apis/apps/v1/namespaces/default/controllerrevisions",
            "metadata: {name: x}", 404, "there are no controllerrevisions in apps/v1"),
        new Mistake("a kind that nothing acts on", "/apis/apps/v1/namespaces/default/daemonsets",
            "metadata: {name: x}", 405,
            "this server does not offer daemonsets: they have no effect"),
        new Mistake("a misspelt kind", "/apis/apps/v1/namespaces/default/deploymnts",
            "metadata: {name: x}", 404, "the nearest is deployments of apps/v1"),
        new Mistake("an old version of a kind",
            "/apis/extensions/v1beta1/namespaces/default/deployments", "metadata: {name: x}", 404,
            "no deployments in extensions/v1beta1; the nearest is deployments of apps/v1"),
        new Mistake("a kind that nothing acts on",
            "/apis/serving.knative.dev/v1/namespaces/default/configurations",
            "metadata: {name: x}\nspec: {template: {}}", 201,
            "spec: ignored in embedded mode: nothing here acts on this kind; apply a Service of"
                + " serving.knative.dev/v1"),
        new Mistake("a Pod", CORE + "pods", "metadata: {name: x}\n"
            + "spec: {containers: [{name: c, image: i}]}", 201,
            "spec: ignored in embedded mode: nothing runs a Pod that is created by hand"),
        new Mistake("a secret in plain text", CORE + "secrets",
            "metadata: {name: x}\ndata: {password: 'pass word!'}", 400,
            "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data in"
                + " data.password; stringData takes plain text"),
        new Mistake("a secret without padding", CORE + "secrets",
            "metadata: {name: x}\ndata: {password: YWJ}", 400, "illegal base64 data in"
                + " data.password"),
        new Mistake("a secret that is a number", CORE + "secrets",
            "metadata: {name: x}\nstringData: {pin: 1234}", 422,
            "stringData.pin: Invalid value: (secret): must be a string"),
        new Mistake("data that are numbers", CORE + "configmaps",
            "metadata: {name: x}\ndata: {port: 8080}", 422,
            "data.port: Invalid value: 8080: must be a string; quote it: \"8080\""),
        new Mistake("data that are numbers, and no kind", CORE + "configmaps",
            "apiVersion: ''\nkind: ''\nmetadata: {name: x}\ndata: {port: 8080}", 422,
            "data.port: "),
        new Mistake("data that may not change", CORE + "configmaps",
            "metadata: {name: x}\nimmutable: true", 201,
            "immutable: ignored in embedded mode: later changes are accepted"),
        new Mistake("a check of fields that there is not", SERVICES + "?fieldValidation=Some",
            "metadata: {name: x}", 422,
            "fieldValidation: Unsupported value: \"Some\": supported values: \"Ignore\","),
        new Mistake("an unknown field for a strict client", CORE
            + "configmaps?fieldValidation=Strict", "metadata: {name: x}\ndta: {}", 400,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error:"
                + " unknown field \"dta\", did you mean \"data\"?"));
  }

  private static Mistake warned(String what, String fields, String says) {
    return container(what, fields, 201, says);
  }

  private static Mistake container(String what, String fields, int code, String says) {
    return service(what, "spec: {template: {spec: {containers: [{" + fields + "}]}}}", code, says);
  }

  private static Mistake spec(String what, String fields, int code, String says) {
    return service(what, "spec: {template: {spec: {" + fields
        + ", containers: [{command: [a]}]}}}", code, says);
  }

  private static Mistake template(String what, String metadata, int code, String says) {
    return service(what, "spec: {template: {metadata: {" + metadata
        + "}, spec: {containers: [{command: [a]}]}}}", code, says);
  }

  private static Mistake service(String what, String spec, int code, String says) {
    return new Mistake(what, SERVICES, "metadata: {name: x}\n" + spec, code, says);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mistakes")
  void areRefusedOrWarnedOf(Mistake mistake) {
    String path = mistake.path() + (mistake.path().contains("?") ? "&" : "?") + "dryRun=All";

    var answer = wire.yaml(path, mistake.yaml());

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(mistake.code());
    var said = mistake.code() == 201
        ? answer.headers().allValues("Warning").stream().map(text -> text.replace("\\\"", "\""))
            .toList()
        : List.of(Json.MAPPER.readTree(answer.body()).get("message").stringValue());
    assertThat(said).anySatisfy(text -> assertThat(text).contains(mistake.says()));
  }

  @Test
  void unknownFieldsOfADefinitionsKindAreWarnedOfOrRefused() {
    String path = "/apis/activator.dev/v1alpha1/namespaces/default/scaledservices?dryRun=All";
    String manifest = """
        apiVersion: activator.dev/v1alpha1
        kind: ScaledService
        metadata: {name: x, labels: {a: b}}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}
          serviceRef: {name: x, port: http}
          target: {concurrency: 1}
          maxReplica: 3
          rules: [{pathPrefix: /a}, {headers: [{name: X, type: RegularExpression}]}]
        """;

    var warned = wire.yaml(path, manifest);
    var refused = wire.yaml(path + "&fieldValidation=Strict", manifest);
    var right = wire.yaml(path + "&fieldValidation=Strict",
        manifest.replace("maxReplica:", "maxReplicas:").replace(", type: RegularExpression", ""));

    assertThat(warned.statusCode()).as(warned.body()).isEqualTo(201);
    assertThat(warned.headers().allValues("Warning")).satisfiesExactly(
        first -> assertThat(first).contains("spec.maxReplica"),
        inAList -> assertThat(inAList).contains("spec.rules[1].headers[0].type"));
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(Json.MAPPER.readTree(refused.body()).get("message").stringValue())
        .isEqualTo("ScaledService in version \"v1alpha1\" cannot be handled as a ScaledService:"
            + " strict decoding error: unknown field \"spec.maxReplica\", did you mean"
            + " \"maxReplicas\"?, unknown field \"spec.rules[1].headers[0].type\"");
    assertThat(right.statusCode()).as(right.body()).isEqualTo(201);
  }

  @Test
  void namesAnnotationsOfAScaledServiceThatHaveNoEffect() {
    String path = "/apis/activator.dev/v1alpha1/namespaces/default/scaledservices?dryRun=All";

    var answer = wire.yaml(path, """
        apiVersion: activator.dev/v1alpha1
        kind: ScaledService
        metadata:
          name: x
          annotations: {activator.dev/queue-timout: 20s, activator.dev/queue-capacity: "0",
            activator.dev/fallback: "{after: 1s}", activator.dev/slow-start: "off"}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}
          serviceRef: {name: x, port: http}
          target: {concurrency: 1}
        """);

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
    assertThat(answer.headers().allValues("Warning")).satisfiesExactly(
        capacity -> assertThat(capacity)
            .contains("metadata.annotations.activator.dev/queue-capacity:"
                + " '0' is ignored: it must be a whole number of at least 1"),
        timeout -> assertThat(timeout).contains("activator.dev/queue-timout: no annotation of this"
            + " name has an effect; the nearest is"),
        rules -> assertThat(rules)
            .contains("metadata, annotation activator.dev/fallback needs either"
                + " service or respond; it is ignored"));
  }

  @Test
  void aManifestWithoutMistakesGetsNoWarning() {
    var answer = wire.yaml(SERVICES + "?dryRun=All&fieldValidation=Strict", """
        apiVersion: serving.knative.dev/v1
        kind: Service
        metadata: {name: x, creationTimestamp: null, labels: {a: b}, annotations: {c: d}}
        spec:
          traffic: [{latestRevision: true, percent: 100}]
          template:
            metadata: {annotations: {autoscaling.knative.dev/minScale: "1",
              activator.dev/probe: container}}
            spec:
              containerConcurrency: 1
              timeoutSeconds: 3
              idleTimeoutSeconds: 2
              restartPolicy: Always
              containers:
              - {name: c, command: [a], args: [b], workingDir: /, resources: {},
                 env: [{name: A, value: b}], ports: [{name: h2c, containerPort: 1}],
                 readinessProbe: {httpGet: {path: /, port: 1}, periodSeconds: 1}}
        status: {anything: 1}
        """);

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
    assertThat(answer.headers().allValues("Warning")).isEmpty();
  }

  @Test
  void staysShortWhereThereAreManyMistakesOrLongOnes() {
    var many = new StringBuilder("{'metadata':{'name':'x'},'" + "y".repeat(40_000) + "':1");
    for (int i = 0; i < 20_000; i++) {
      many.append(",'unknown").append(i).append("':1");
    }

    var warned = wire.post(CORE + "configmaps?dryRun=All", many + "}");
    var refused = wire.post(CORE + "configmaps?dryRun=All&fieldValidation=Strict", many + "}");

    assertThat(warned.statusCode()).isEqualTo(201);
    assertThat(String.join("", warned.headers().allValues("Warning"))).hasSizeLessThan(8_000);
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("unknown0").hasSizeLessThan(10_000);
  }

  @Test
  void warnsOfWhatAPatchAddsAndNotOfWhatWasThere() {
    String merge = "application/merge-patch+json";
    wire.post(DEPLOYMENTS, "{'metadata':{'name':'d'},'spec':{'old':1,'minReadySeconds':5}}");

    var label = wire.patch(DEPLOYMENTS + "/d?fieldValidation=Strict", merge,
        "{'metadata':{'labels':{'a':'b'}}}");
    var spec = wire.patch(DEPLOYMENTS + "/d", merge, "{'spec':{'new':1,'paused':true}}");
    var strict = wire.patch(DEPLOYMENTS + "/d?fieldValidation=Strict", merge, "{'spc':{}}");
    var silent = wire.patch(DEPLOYMENTS + "/d?fieldValidation=Ignore", merge, "{'spc':{}}");

    assertThat(label.statusCode()).isEqualTo(200);
    assertThat(label.headers().allValues("Warning")).isEmpty();
    assertThat(spec.headers().allValues("Warning")).hasSize(2)
        .anyMatch(text -> text.contains("spec.new"))
        .anyMatch(text -> text.contains("spec.minReadySeconds"))
        .allMatch(text -> text.startsWith("299 - \"") && text.endsWith("\""));
    assertThat(strict.statusCode()).isEqualTo(400);
    assertThat(silent.statusCode()).isEqualTo(200);
    assertThat(silent.headers().allValues("Warning")).isEmpty();
  }

  @Test
  void warnsOfUnknownFieldsOfAnApply_whichAreNotStored() {
    String path = CORE + "configmaps/a?fieldManager=me";
    for (var value : List.of("v", "w")) {
      var applied = wire.patch(path, "application/apply-patch+yaml",
          "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'},'data':{'k':'" + value
              + "'},'dota':{}}");

      assertThat(applied.headers().allValues("Warning")).singleElement().asString()
          .contains("dota");
      assertThat(applied.body()).contains("\"k\":\"" + value).doesNotContain("dota");
    }
  }
}
