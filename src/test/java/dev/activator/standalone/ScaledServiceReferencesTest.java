package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import dev.activator.discovery.RevisionSource;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.testing.Make;
import dev.activator.kube.Sessions;
import dev.activator.kube.informer.Informer.InformerStatus;
import dev.activator.kube.KubernetesSession;
import dev.activator.standalone.policy.ActivatorSlicePlanner;
import dev.activator.kube.policy.IpFamily;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.loop.ThreadLoop;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.testing.Authority;
import dev.activator.testing.EmbeddedApi;
import dev.activator.tls.PemCertificates;
import dev.activator.testing.SteppedLoop;
import dev.activator.testing.faults.Failure;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Fault.FailWatch.Ending;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.faults.When;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** With the real reflectors, over HTTP; time is moved by hand. */
class ScaledServiceReferencesTest {
  private static final Duration LONG = Duration.ofSeconds(120);

  private final EmbeddedApi server = EmbeddedApi.start();
  private final ApiStore store = server.store();
  private final ThreadLoop thread = new ThreadLoop("cluster");
  private final SteppedLoop loop = new SteppedLoop(thread);
  private final KubernetesSession session = Sessions.of(server.url(), loop,
      ReflectorSettings.DEFAULT, new Random(1));
  private final Map<String, ResolvedScaledService> received = new ConcurrentSkipListMap<>();
  private final List<String> changes = new CopyOnWriteArrayList<>();
  private volatile Instant wall = Instant.now();
  private volatile String broken = "";
  private volatile String knative = "knative";
  private final ScaledServiceResolver services = new ScaledServiceResolver(session, IpFamily.IPV4,
      Make.scope().sharedBy(new RevisionId("system", "activator")),
      () -> new InstalledExtensions(Set.of("affinity", "rules", "wakewith"), Map.of(), null),
      new Names(), new Received(), () -> wall);

  private final class Received implements ScaledServiceResolver.ScaledServicesListener {
    @Override
    public void caught(ActivatorSlicePlanner now) {}

    @Override
    public @Nullable ResolvedScaledService find(RevisionId id) {
      return received.get(id.name());
    }

    @Override
    public void again(ResolvedScaledService now) {
      changed(now);
    }

    @Override
    public void changed(ResolvedScaledService now) {
      var name = now.object().id().name();
      if (name.equals(broken)) {
        throw new IllegalStateException("a bug, in a test");
      }
      received.put(name, now);
      changes.add("changed " + now.object().uid());
    }

    @Override
    public void portsAdded(ResolvedScaledService before, ResolvedScaledService now) {
      changes.add("ports of " + now.object().uid());
    }

    @Override
    public void gone(RevisionId id) {
      received.remove(id.name());
      changes.add("gone");
    }
  }

  private final class Names implements RevisionSource.Sink {
    @Override
    public boolean isNameTaken(RevisionId id) {
      return false;
    }

    @Override
    public boolean isKnown(RevisionId id) {
      return id.name().equals(knative);
    }

    @Override
    public void changed(Revision revision, PrivateEndpoints pods) {}

    @Override
    public void again(Revision revision, PrivateEndpoints pods) {}

    @Override
    public void shared(RevisionId id, List<String> addresses) {
      changes.add("shared " + addresses);
    }

    @Override
    public void gone(RevisionId id) {}
  }

  @BeforeEach
  void create() {
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
         'ports': [{'name': 'http', 'port': 80}]}}
        """));
  }

  private void deployment(String name) {
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse(
        """
            {'metadata': {'namespace': 'shop', 'name': '%s'}, 'spec': {'template': {'spec':
             {'containers': [{'name': 'one', 'image': 'one'}]}}}}
            """.formatted(name)));
  }

  private void workload(String name) {
    deployment(name);
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': '%1$s'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': '%1$s'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'maxReplicas': 5,
         'target': {'concurrency': 20}}}
        """.formatted(name)));
  }

  /** A copy: a failed assertion describes what it looks at, which changes on another thread. */
  private List<String> names() {
    return List.copyOf(received.keySet());
  }

  private void hpa(int minReplicas) {
    hpa("web-hpa", minReplicas);
  }

  private void hpa(String name, int minReplicas) {
    store.create(BuiltInKinds.HORIZONTAL_POD_AUTOSCALER, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': '%s'}, 'spec': {'minReplicas': %s,
         'maxReplicas': 9,
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'}}}
        """.formatted(name, minReplicas)));
  }

  @AfterEach
  void close() {
    session.close();
    server.close();
    thread.close();
  }

  private List<String> troubles(String name) {
    var state = received.get(name);
    return state == null
        ? List.of("unknown")
        : state.troubles().stream().map(Trouble::reason)
            .toList();
  }

  private void eventually(ThrowingRunnable holds) {
    await().untilAsserted(() -> {
      loop.advance(Duration.ZERO);
      holds.run();
    });
  }

  @Test
  void besideAnHpaOnlyZeroAndOneAreSetUntilItIsRemoved() {
    workload("web");
    hpa(0);
    services.follow();

    eventually(() -> assertThat(troubles("web")).containsExactly("HpaPresent"));
    assertThat(received.get("web").target().maxReplicas()).isEqualTo(OptionalInt.empty());
    assertThat(received.get("web").target().otherGoesToZero()).isTrue();

    store.delete(BuiltInKinds.HORIZONTAL_POD_AUTOSCALER, "shop", "web-hpa");
    eventually(() -> assertThat(troubles("web")).isEmpty());
    assertThat(received.get("web").target().maxReplicas()).isEqualTo(OptionalInt.of(5));
  }

  @Test
  void warnsOfANameInWakeWithUntilThereIsSuchAnObject() {
    workload("web");
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      found.withObject("/spec").putArray("wakeWith").add("cart").add("auth.users").add("knative");
      return found;
    });
    services.follow();
    eventually(() -> assertThat(names()).contains("web"));
    assertThat(received.get("web").warnings()).extracting(Trouble::message)
        .containsExactly("spec.wakeWith names cart, and there is no such ScaledService",
            "spec.wakeWith names auth.users, and there is no such ScaledService");
    assertThat(received.get("web").revision().annotations())
        .containsEntry("activator.dev/wake-with", "cart,auth.users,knative");

    workload("cart");

    eventually(() -> assertThat(received.get("web").warnings()).hasSize(1));
  }

  @Test
  void isNotReadyWhileOneThatItConflictsWithDoesNotExist_butIsScaled() {
    workload("web");
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      found.withObject("/spec").putArray("conflictsWith").add("big");
      return found;
    });
    services.follow();

    eventually(() -> assertThat(names()).contains("web"));
    assertThat(received.get("web").troubles()).extracting(Trouble::message)
        .containsExactly("spec.conflictsWith names big, and there is no such ScaledService in"
            + " namespace shop");
    assertThat(received.get("web").canStart()).isTrue();

    workload("big");

    eventually(() -> assertThat(troubles("web")).isEmpty());
  }

  @Test
  void isNotReadyWhileItsFallbackDoesNotExist() {
    workload("web");
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      found.withObject("/spec/fallback").put("service", "maintenance");
      return found;
    });
    services.follow();
    eventually(() -> assertThat(troubles("web")).containsExactly("FallbackNotFound"));
    assertThat(received.get("web").troubles()).extracting(Trouble::message).containsExactly(
        "the fallback names maintenance, and there is no such ScaledService: requests wait");
    assertThat(received.get("web").target()).isNotNull();
    assertThat(received.get("web").revision().startFailure()).isNull();

    workload("maintenance");
    eventually(() -> assertThat(troubles("web")).isEmpty());

    store.delete(ScaledServiceCrd.of(store), "shop", "maintenance");
    eventually(() -> assertThat(troubles("web")).containsExactly("FallbackNotFound"));

    // when a Knative Service gets its first revision
    knative = "maintenance";
    loop.execute(() -> services.onNameChange(new RevisionId("shop", "maintenance")));
    eventually(() -> assertThat(troubles("web")).isEmpty());
  }

  @Test
  void namesTheHpaThatIsLeft_whenOneOfTwoIsDeleted() {
    workload("web");
    hpa("a", 1);
    hpa("b", 0);
    services.follow();
    eventually(
        () -> assertThat(troubles("web")).containsExactly("HpaPresent", "HpaPresent"));
    assertThat(received.get("web").target().otherGoesToZero()).isTrue();

    store.delete(BuiltInKinds.HORIZONTAL_POD_AUTOSCALER, "shop", "b");

    eventually(() -> assertThat(received.get("web").troubles()).extracting(Trouble::message)
        .containsExactly("HorizontalPodAutoscaler a scales Deployment web, too: remove it, or"
            + " spec.maxReplicas; until then only 0 and 1 are set here"));
    assertThat(received.get("web").target().maxReplicas()).isEqualTo(OptionalInt.empty());
    assertThat(received.get("web").target().otherGoesToZero()).isFalse();
  }

  @Test
  void theRightToReadHpasCountsWhenItIsGivenLater() {
    var rule = server.faults().add(
        Match.requests(Verb.LIST).of(BuiltInKinds.HORIZONTAL_POD_AUTOSCALER),
        Fault.Answer.status(403));
    workload("web");
    hpa(2);
    services.follow();
    eventually(() -> assertThat(troubles("web")).isEmpty());
    rule.awaitFired(1, LONG);

    rule.remove();
    eventually(() -> {
      loop.advance(Duration.ofSeconds(30));
      assertThat(troubles("web")).containsExactly("HpaPresent");
    });
  }

  @Test
  void isServedWithoutItsTemplate_whileItsKindCannotBeListedWhole() {
    var rule = server.faults().add(
        Match.requests(Verb.LIST).of(BuiltInKinds.DEPLOYMENT).having("limit", "500"),
        Fault.Answer.status(500));
    workload("web");
    services.follow();
    rule.awaitFired(1, LONG);

    eventually(() -> {
      loop.advance(Duration.ofSeconds(10));
      assertThat(troubles("web")).isEmpty();
    });
    assertThat(received.get("web").revision().probesBeforeReady()).isFalse();
    assertThat(services.named()).allMatch(kind -> kind.synced().isDone());

    rule.remove();
    eventually(() -> {
      loop.advance(Duration.ofSeconds(30));
      assertThat(received.get("web").revision().probesBeforeReady()).isTrue();
    });
  }

  @Test
  void aDeletionIsReported_afterABugThatShowedWithTheObject() {
    workload("web");
    workload("other");
    services.follow();
    eventually(() -> assertThat(troubles("other")).isEmpty());
    assertThat(names()).contains("web");

    broken = "web";
    store.delete(BuiltInKinds.SERVICE, "shop", "web");
    eventually(() -> assertThat(troubles("other")).containsExactly("ServiceNotFound"));
    store.delete(ScaledServiceCrd.of(store), "shop", "web");

    eventually(() -> assertThat(names()).containsExactly("other"));
  }

  @Test
  void aBugThatShowsWithOneObjectDoesNotDropTheOthers() {
    broken = "a";
    workload("a");
    workload("web");
    services.follow();
    eventually(() -> assertThat(troubles("web")).isEmpty());
    assertThat(names()).doesNotContain("a");

    // and when the bug no longer shows, then the object is published without another change
    broken = "";
    eventually(() -> {
      loop.advance(Duration.ofSeconds(1));
      assertThat(troubles("a")).isEmpty();
    });
  }

  @Test
  void anEditIsPublishedAtOnce_afterABugThatShowedWithTheObject() {
    broken = "a";
    workload("a");
    workload("web");
    services.follow();
    eventually(() -> assertThat(troubles("web")).isEmpty());

    broken = "";
    store.edit(ScaledServiceCrd.of(store), "shop", "a", object -> {
      object.withObjectProperty("spec").put("minReplicas", 1);
      return object;
    });

    eventually(() -> assertThat(names()).contains("a"));
  }

  /** As with kubectl replace --force, and with Argo CD's option Replace. */
  @Test
  void requestsWaitThreeSecondsForAWorkloadThatIsReplaced() {
    workload("web");
    services.follow();
    eventually(() -> assertThat(troubles("web")).isEmpty());

    // when it is replaced within the time, then requests are not refused
    store.delete(BuiltInKinds.DEPLOYMENT, "shop", "web");
    eventually(() -> assertThat(troubles("web")).containsExactly("TargetNotFound"));
    loop.advance(Duration.ofMillis(2_900));
    assertThat(received.get("web").revision().startFailure()).isNull();
    deployment("web");
    eventually(() -> assertThat(troubles("web")).isEmpty());

    // and when it does not come back, then they are refused after it
    store.delete(BuiltInKinds.DEPLOYMENT, "shop", "web");
    eventually(() -> assertThat(troubles("web")).containsExactly("TargetNotFound"));
    loop.advance(Duration.ofMillis(2_900));
    assertThat(received.get("web").revision().startFailure()).isNull();
    loop.advance(Duration.ofMillis(200));
    eventually(() -> assertThat(received.get("web").revision().startFailure())
        .returns("TargetNotFound", RevisionStartFailure::reason));
  }

  @Test
  void anObjectThatWasMadeAgainUnseen_isGoneFirst() {
    workload("web");
    services.follow();
    eventually(() -> assertThat(names()).contains("web"));

    // when no watch sees that it is deleted and made again
    server.faults().strike(Match.requests(Verb.WATCH).of(ScaledServiceCrd.of(store)),
        new Fault.FailWatch(When.now(), Failure.of(410, 0), Ending.AT_ONCE));
    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    store.delete(BuiltInKinds.DEPLOYMENT, "shop", "web");
    workload("web");

    eventually(() -> {
      loop.advance(Duration.ofSeconds(1));
      assertThat(changes).endsWith("gone", "changed " + uid(), "shared []");
    });
  }

  private String uid() {
    return store.find(ScaledServiceCrd.of(store), "shop", "web").at("/metadata/uid").asString();
  }

  private void trusts(String references) {
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      found.withObject("/spec").set("tls",
          Objects.parse("{'caCertificateRefs': " + references + "}"));
      return found;
    });
  }

  private void bundle(String name, String pem) {
    var object = Objects.parse("{'metadata': {'namespace': 'shop', 'name': '" + name + "'}}");
    object.withObject("/data").put("ca.crt", pem);
    store.create(BuiltInKinds.CONFIG_MAP, object);
  }

  private @Nullable PodIdentity identity() {
    var state = received.get("web");
    return state == null ? null : state.revision().podIdentity();
  }

  private static PodIdentity issuedBy(Authority... authorities) {
    return new PodIdentity.OfService("web.shop.svc",
        PemCertificates.text(Stream.of(authorities).map(Authority::certificate).toList()));
  }

  @Test
  void followsTheBundleThatItNames() throws Exception {
    var one = Authority.named("one");
    var two = Authority.named("two");
    workload("web");
    trusts("[{'name': 'web-ca'}]");
    bundle("other", one.pem());
    services.follow();
    // requests wait for a moment, as the ConfigMap may be in replacement
    eventually(() -> assertThat(troubles("web")).containsExactly("NoValidCACertificate"));
    assertThat(received.get("web").revision().startFailure()).isNull();

    bundle("web-ca", one.pem());
    eventually(() -> assertThat(troubles("web")).isEmpty());
    assertThat(identity()).isEqualTo(issuedBy(one));

    // another authority is added, and the first removed
    store.edit(BuiltInKinds.CONFIG_MAP, "shop", "web-ca", found -> {
      found.withObject("/data").put("ca.crt", one.pem() + two.pem());
      return found;
    });
    eventually(() -> assertThat(identity()).isEqualTo(issuedBy(one, two)));
    store.edit(BuiltInKinds.CONFIG_MAP, "shop", "web-ca", found -> {
      found.withObject("/data").put("ca.crt", two.pem());
      return found;
    });
    eventually(() -> assertThat(identity()).isEqualTo(issuedBy(two)));

    store.delete(BuiltInKinds.CONFIG_MAP, "shop", "web-ca");
    eventually(() -> assertThat(troubles("web")).containsExactly("NoValidCACertificate"));
    loop.advance(Duration.ofSeconds(4));
    eventually(() -> assertThat(received.get("web").revision().startFailure()).isNotNull());
  }

  @Test
  void trustsNoAuthorityAfterItsEnd() throws Exception {
    var end = wall.plus(Duration.ofMinutes(1)).truncatedTo(ChronoUnit.SECONDS);
    var one = Authority.named("one", end);
    var two = Authority.named("two");
    workload("web");
    trusts("[{'name': 'web-ca'}]");
    bundle("web-ca", one.pem() + two.pem());
    services.follow();
    eventually(() -> assertThat(identity()).isEqualTo(issuedBy(one, two)));

    wall = end;
    // long before the next resync
    loop.advance(Duration.ofMinutes(1));

    eventually(() -> assertThat(identity()).isEqualTo(issuedBy(two)));
  }

  @Test
  void readsASecretByItsName_andNoOther() throws Exception {
    var one = Authority.named("one");
    workload("web");
    trusts("[{'kind': 'Secret', 'name': 'web-tls'}]");
    store.create(BuiltInKinds.SECRET, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web-tls'}, 'data': {'ca.crt': '%s',
         'tls.key': 'AAAA'}}
        """.formatted(Base64.getEncoder().encodeToString(one.pem().getBytes(UTF_8)))));
    services.follow();
    eventually(() -> assertThat(identity()).isEqualTo(issuedBy(one)));
    assertThat(server.faults().journal().calls(Match.requests(Verb.LIST, Verb.WATCH)
        .of(BuiltInKinds.SECRET))).isNotEmpty().allMatch(
            call -> call.asked().parameter("fieldSelector").equals("metadata.name=web-tls"));
  }

  @Test
  void saysThatABundleMayNotBeRead_andTriesAgain() throws Exception {
    var one = Authority.named("one");
    var rule = server.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.CONFIG_MAP),
        Fault.Answer.status(403));
    workload("web");
    trusts("[{'name': 'web-ca'}]");
    bundle("web-ca", one.pem());
    services.follow();
    eventually(() -> assertThat(names()).contains("web"));
    assertThat(received.get("web").troubles()).containsExactly(
        new Trouble("NoValidCACertificate", "ConfigMap shop/web-ca cannot be read: the activator"
            + " may not list and watch it (standalone.trustBundles of the chart)"));

    rule.remove();
    loop.advance(Duration.ofSeconds(31));
    eventually(() -> assertThat(identity()).isEqualTo(issuedBy(one)));
  }

  @Test
  void waitsForABundle_whileTheApiFails() throws Exception {
    var one = Authority.named("one");
    var rule = server.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.CONFIG_MAP),
        Fault.Answer.status(500));
    workload("web");
    trusts("[{'name': 'web-ca'}]");
    bundle("web-ca", one.pem());
    services.follow();
    rule.awaitFired(1, LONG);
    assertThat(names()).isEmpty();

    rule.remove();
    eventually(() -> {
      loop.advance(Duration.ofSeconds(1));
      assertThat(identity()).isEqualTo(issuedBy(one));
    });
    assertThat(troubles("web")).isEmpty();
  }

  @Test
  void aBundleThatNoObjectNamesIsWatchedNoMore() throws Exception {
    var one = Authority.named("one");
    bundle("web-ca", one.pem());
    workload("web");
    trusts("[{'name': 'web-ca'}]");
    services.follow();
    eventually(() -> assertThat(identity()).isEqualTo(issuedBy(one)));
    assertThat(watched()).containsOnlyOnce("configmaps");
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      ((ObjectNode) found.path("spec")).remove("tls");
      return found;
    });
    eventually(() -> assertThat(identity()).isNull());
    assertThat(watched()).doesNotContain("configmaps");
  }

  private List<String> watched() {
    return session.informers().informers().stream().map(InformerStatus::name).toList();
  }

  @Test
  void aKindThatNoObjectNamesIsWatchedNoMore() {
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'odd'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Oddity', 'name': 'odd'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 20}}}
        """));
    services.follow();
    eventually(() -> assertThat(troubles("odd")).contains("TargetNotScalable"));
    loop.advance(Duration.ofSeconds(35));
    eventually(() -> assertThat(discoveries()).isGreaterThanOrEqualTo(2));

    store.delete(ScaledServiceCrd.of(store), "shop", "odd");
    eventually(() -> assertThat(names()).isEmpty());
    loop.advance(Duration.ofSeconds(60));
    long asked = discoveries();
    for (int i = 0; i < 10; i++) {
      loop.advance(Duration.ofSeconds(30));
    }

    assertThat(discoveries()).isEqualTo(asked);
  }

  private long discoveries() {
    return server.faults().journal().calls(Match.requests(Verb.OTHER)).stream()
        .filter(call -> call.asked().about().path().endsWith("apis/apps/v1")).count();
  }
}
