package dev.activator.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.reflector.ApiErrorText;
import dev.activator.kube.reflector.SharedInformers;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.ReflectorContext;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.embedded.api.cache.Windows;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.loop.ThreadLoop;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.TestValues;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import io.fabric8.kubernetes.client.Config;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import tools.jackson.databind.node.ObjectNode;

/** Informers of ours on an embedded API, over real HTTP, and a witness of all they tell. */
public final class Rig implements AutoCloseable {
  public static final Duration PATIENCE = Duration.ofSeconds(120);
  public static final Match LISTS = Match.requests(Verb.LIST).of(BuiltInKinds.ENDPOINTS);
  public static final Match WATCHES = Match.requests(Verb.WATCH).of(BuiltInKinds.ENDPOINTS);
  public static final InformerQuery<RevisionEndpointSlice> ENDPOINTS = InformerQuery
      .everywhere(KnativeKinds.ENDPOINTS, "");

  /** As in production, but without its long waits. */
  public static final ReflectorSettings QUICK = new ReflectorSettings(Duration.ofSeconds(3),
      Duration.ofMinutes(3), Duration.ofMinutes(10), Duration.ofMillis(500));

  public final EmbeddedApi api;
  private final KubernetesApiClient client;
  public final SharedInformers informers;
  public final Witness<ObjectDecodeResult<RevisionEndpointSlice>> witness = new Witness<>();
  private final ThreadLoop storing = new ThreadLoop("test informers");
  private final ThreadLoop telling = new ThreadLoop("test listeners");
  private final AtomicInteger writes = new AtomicInteger();
  private SharedInformers.Lease<RevisionEndpointSlice> lease;

  public Rig() {
    this(QUICK, config -> {
    });
  }

  public Rig(ReflectorSettings settings, Consumer<Config> changes) {
    this(EmbeddedApi.start(Windows.of(1000)), settings, changes);
  }

  public Rig(EmbeddedApi api, ReflectorSettings settings, Consumer<Config> changes) {
    this.api = api;
    var config = KubernetesClientFactory.configured(new ClusterAccess.At(URI.create(api.url())));
    changes.accept(config);
    client = TestValues.kubernetesApi(config);
    informers = new SharedInformers(client,
        new ReflectorContext(storing, settings, new Random(1), new ApiErrorText(api.url())));
  }

  /** Begins to list and watch, without waiting for anything. */
  public Rig begin() {
    lease = informers.lease(ENDPOINTS);
    lease.informer().addHandler(witness, InformerHandlerOptions.on(telling, "witness"));
    return this;
  }

  /** Has listed, and watches. */
  public Rig start() {
    begin();
    await().until(() -> lease.informer().hasSynced());
    awaitWatches(1);
    return this;
  }

  public SharedInformers.Lease<RevisionEndpointSlice> lease() {
    return lease;
  }

  ThreadLoop telling() {
    return telling;
  }

  /** Waits until that many watches were asked for, and the last one is on. */
  public void awaitWatches(int number) {
    api.faults().journal().await(WATCHES, number, PATIENCE);
    // An event that comes over it proves that it is on; nothing else does.
    touch("proof");
    converges();
  }

  /** Does this to the watch, and to one before it whose end the server has not noticed yet. */
  public void strike(Fault.OnOpen fault) {
    assertThat(api.faults().strike(WATCHES, fault)).isNotEmpty();
  }

  public int lists() {
    return api.faults().journal().calls(LISTS).size();
  }

  public int watches() {
    return api.faults().journal().calls(WATCHES).size();
  }

  /** Creates it, or changes it. */
  public ObjectNode touch(String name) {
    var object = Objects.with(Objects.named(name), "n", String.valueOf(writes.incrementAndGet()));
    return api.store().find(BuiltInKinds.ENDPOINTS, "default", name) == null
        ? api.store().create(BuiltInKinds.ENDPOINTS, object)
        : api.store().writes().update(BuiltInKinds.ENDPOINTS, object);
  }

  public void delete(String name) {
    api.store().delete(BuiltInKinds.ENDPOINTS, "default", name);
  }

  /** Waits until the store and the witness are as the API is; and nothing was told wrongly. */
  public void converges() {
    await().untilAsserted(() -> {
      assertThat(stored()).isEqualTo(truth());
      assertThat(witness.versions()).isEqualTo(truth());
    });
    assertThat(witness.wrongs).isEmpty();
  }

  public Map<String, String> truth() {
    var truth = new HashMap<String, String>();
    for (var object : api.store().list(BuiltInKinds.ENDPOINTS)) {
      var metadata = object.path("metadata");
      truth.put(metadata.path("namespace").asString("") + "/" + metadata.path("name").asString(""),
          metadata.path("resourceVersion").asString(""));
    }
    return truth;
  }

  public Map<String, String> stored() {
    var stored = new HashMap<String, String>();
    for (VersionedObject<?> one : lease.informer().store().all()) {
      stored.put(one.key(), one.resourceVersion());
    }
    return stored;
  }

  @Override
  public void close() {
    lease.close();
    storing.close();
    telling.close();
    client.close();
    api.faults().heal();
    api.close();
  }
}
