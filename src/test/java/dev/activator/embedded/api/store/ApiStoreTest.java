package dev.activator.embedded.api.store;

import static dev.activator.embedded.api.Objects.in;
import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.DEPLOYMENT;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static dev.activator.embedded.api.store.BuiltInKinds.KNATIVE_SERVICE;
import static dev.activator.embedded.api.store.BuiltInKinds.NAMESPACE;
import static dev.activator.embedded.api.store.BuiltInKinds.REVISION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.activator.embedded.api.store.ApiStore.MissingNamespace;
import dev.activator.embedded.api.store.ObjectWrites.Deletion;
import dev.activator.embedded.api.store.ObjectWrites.Preconditions;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class ApiStoreTest {
  private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-21T10:00:00.123Z"),
      ZoneOffset.UTC);

  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(CLOCK, new Random(1), MissingNamespace.CREATED);

  @Test
  void takesItsFirstRevisionsFromTheClock() {
    // given three namespaces, then the next revision
    assertThat(store.revision()).isEqualTo(1795255200123000L + 3);
  }

  @Test
  void numbersEveryChangeInOneOrder() {
    // when two objects come and one goes
    var a = store.create(CONFIG_MAP, named("a"));
    var b = store.create(ENDPOINTS, named("b"));
    store.delete(CONFIG_MAP, "default", "a");

    // then each took the next revision, and what was not touched keeps its own
    assertThat(ObjectMeta.revision(b)).isEqualTo(ObjectMeta.revision(a) + 1);
    assertThat(store.revision()).isEqualTo(ObjectMeta.revision(a) + 2);
    assertThat(find("b", ENDPOINTS)).isEqualTo(b);
  }

  @Test
  @DisplayName("gives a new object its identity, and takes none it brings")
  void completesANewObject() {
    // given one that brings what only the server writes
    var object = with(named("a"), "k", "v");
    ObjectMeta.of(object).put("uid", "mine").put("deletionTimestamp", "2020-01-01T00:00:00Z");

    // when it is created
    var created = store.create(CONFIG_MAP, object);

    // then it has its kind and an identity of the server's making
    assertThat(created.get("kind").stringValue()).isEqualTo("ConfigMap");
    assertThat(created.get("apiVersion").stringValue()).isEqualTo("v1");
    var metadata = created.get("metadata");
    assertThat(metadata.get("uid").stringValue())
        .matches("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
    assertThat(metadata.get("creationTimestamp").stringValue()).isEqualTo("2026-11-21T10:00:00Z");
    assertThat(metadata.has("deletionTimestamp")).isFalse();
    assertThat(metadata.has("generation")).isFalse();
  }

  @Test
  void generatesANameFromThePrefix() {
    var object = Json.object();
    object.putObject("metadata").put("namespace", "default").put("generateName", "job-");

    var created = store.create(CONFIG_MAP, object);

    assertThat(ObjectMeta.name(created)).matches("job-[bcdfghjklmnpqrstvwxz2456789]{5}");
  }

  @Test
  @DisplayName("finds ten thousand free names, and cuts what is too long")
  void findsManyFreeNames() {
    String base = "n".repeat(300);
    var names = new HashSet<String>();
    for (int i = 0; i < 10_000; i++) {
      names.add(ObjectMeta.name(store.create(CONFIG_MAP,
          parse("{'metadata':{'namespace':'default','generateName':'" + base + "'}}"))));
    }

    assertThat(names).hasSize(10_000).allMatch(name -> name.length() == 63);
  }

  @Test
  void saysWhenEveryNameItTriesIsTaken() {
    // given randomness that always comes to the same name
    RandomGenerator stuck = () -> 0;
    var unlucky = new ApiStore(CLOCK, stuck, MissingNamespace.CREATED);
    var object = parse("{'metadata':{'namespace':'default','generateName':'a-'}}");
    unlucky.create(CONFIG_MAP, object);

    // when a second one is wanted, then it is told to come again
    assertThatThrownBy(() -> unlucky.create(CONFIG_MAP, object)).asInstanceOf(
        type(StatusException.class)).satisfies(refused -> {
          assertThat(refused.code()).isEqualTo(409);
          assertThat(refused.reason()).isEqualTo("AlreadyExists");
          assertThat(refused.retryAfterSeconds()).isEqualTo(1);
          assertThat(refused).hasMessage("configmaps \"a-\" already exists, the server was not able"
              + " to generate a unique name for the object");
        });
  }

  @Test
  void refusesWhatDoesNotHoldTogether() {
    store.create(CONFIG_MAP, named("a"));

    assertRefused(() -> store.create(CONFIG_MAP, named("a")), 409, "AlreadyExists",
        "configmaps \"a\" already exists");
    assertRefused(() -> store.create(CONFIG_MAP, in("default", "")), 422, "Invalid",
        "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is"
            + " required");
    assertRefused(() -> store.create(CONFIG_MAP, parse("{'kind':'Secret'}")), 400, "BadRequest",
        "Secret in version \"\" cannot be handled as a ConfigMap of v1");
    assertRefused(() -> store.delete(REVISION, "default", "r"), 404, "NotFound",
        "revisions.serving.knative.dev \"r\" not found");
    assertRefused(() -> store.create(CONFIG_MAP, store.list(CONFIG_MAP).getFirst()), 500, "",
        "resourceVersion should not be set on objects to be created");
    assertThatThrownBy(() -> store.create(CONFIG_MAP, named("A_b")))
        .hasMessageStartingWith("ConfigMap \"A_b\" is invalid: metadata.name: Invalid value:");
  }

  @Test
  void refusesAnUpdateOfWhatChangedMeanwhile() {
    // given someone who read the object before another one changed it
    var old = store.create(CONFIG_MAP, named("a"));
    store.writes().update(CONFIG_MAP, with(old.deepCopy(), "k", "1"));

    // when that someone writes, then it is a conflict
    assertRefused(() -> store.writes().update(CONFIG_MAP, with(old.deepCopy(), "k", "2")), 409,
        "Conflict",
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please"
            + " apply your changes to the latest version and try again");
  }

  @Test
  void demandsAVersionForKindsOfExtensions() {
    store.create(REVISION, named("r"));

    assertThatThrownBy(() -> store.writes().update(REVISION, named("r")))
        .hasMessageEndingWith("metadata.resourceVersion: Invalid value: 0: must be specified for an"
            + " update");
  }

  @Test
  @DisplayName("keeps the version when nothing changes, however numbers are written")
  void keepsTheVersionWhenNothingChanges() {
    // given an object whose number was written as an int
    var spec = parse("{'spec':{'replicas':1}}");
    spec.setAll(named("d"));
    var created = store.create(DEPLOYMENT, spec);
    long before = store.revision();

    // when the same comes again, with the number as a long
    var again = created.deepCopy();
    ((ObjectNode) again.get("spec")).put("replicas", 1L);
    var updated = store.writes().update(DEPLOYMENT, again);

    // then nothing happened
    assertThat(updated).isEqualTo(created);
    assertThat(store.revision()).isEqualTo(before);
  }

  @Test
  void countsGenerationsOfTheContentAlone() {
    // given a deployment
    store.create(DEPLOYMENT, named("d"));

    // when its labels, its status and its spec change
    store.edit(DEPLOYMENT, "default", "d", d -> {
      ObjectMeta.of(d).putObject("labels").put("a", "b");
      return d;
    });
    store.updateStatus(DEPLOYMENT, "default", "d", d -> {
      d.putObject("status").put("replicas", 1);
      return d;
    });
    var after = store.edit(DEPLOYMENT, "default", "d", d -> {
      d.putObject("spec").put("replicas", 2);
      return d;
    });

    // then only the last counted, and the status is what it was
    assertThat(after.at("/metadata/generation").intValue()).isEqualTo(2);
    assertThat(after.at("/status/replicas").intValue()).isEqualTo(1);
  }

  @Test
  void waitsForFinalizersBeforeAnObjectGoes() {
    // given an object with a finalizer and someone watching
    var object = named("a");
    ObjectMeta.of(object).putArray("finalizers").add("x/y");
    store.create(CONFIG_MAP, object);
    var seen = new ArrayList<ApiStoreChange.Type>();
    store.subscribe(CONFIG_MAP, loop, event -> seen.add(event.type()));

    // when it is deleted twice, and then its finalizer goes
    var first = store.delete(CONFIG_MAP, "default", "a", Preconditions.NONE);
    var second = store.delete(CONFIG_MAP, "default", "a", Preconditions.NONE);
    store.edit(CONFIG_MAP, "default", "a", a -> {
      ObjectMeta.of(a).remove("finalizers");
      return a;
    });
    loop.run();

    // then it waited, once, and went
    assertThat(first.outcome()).isEqualTo(Deletion.Outcome.WAITS);
    assertThat(second).isEqualTo(first);
    assertThat(seen).containsExactly(ApiStoreChange.Type.ADDED, ApiStoreChange.Type.MODIFIED,
        ApiStoreChange.Type.DELETED);
    assertThat(store.find(CONFIG_MAP, "default", "a")).isNull();
  }

  @Test
  void deletesOnlyTheObjectThatIsMeant() {
    store.create(CONFIG_MAP, named("a"));

    assertRefused(
        () -> store.delete(CONFIG_MAP, "default", "a", new Preconditions("other", "")), 409,
        "Conflict", null);
    assertThat(store.find(CONFIG_MAP, "default", "a")).isNotNull();
  }

  @Test
  void makesANamespaceThatIsMissing() {
    store.create(CONFIG_MAP, in("team", "a"));

    assertThat(store.find(NAMESPACE, "", "team")).isNotNull();
  }

  @Test
  void callsHooksBeforeItWrites() {
    // given a hook that wants a spec
    store.onAdmission(KNATIVE_SERVICE, service -> {
      if (!service.has("spec")) {
        throw StatusException.invalid("spec", "there must be one");
      }
      return service.put("seen", true);
    });

    // then it refuses, with the object's name, or has its way
    assertRefused(() -> store.create(KNATIVE_SERVICE, named("s")), 422, "Invalid",
        "Service.serving.knative.dev \"s\" is invalid: spec: there must be one");
    var good = parse("{'spec':{}}");
    good.setAll(named("s"));
    assertThat(store.create(KNATIVE_SERVICE, good).get("seen").booleanValue()).isTrue();
  }

  @Test
  void notifiesSubscribersOfAllObjectsAndOfEveryChangeAfter() {
    // given one object there before, and a subscription
    store.create(CONFIG_MAP, named("a"));
    var seen = new ArrayList<String>();
    var subscription = store.subscribe(CONFIG_MAP, loop,
        event -> seen.add(event.type() + " " + ObjectMeta.name(event.object())));

    // when things change, of this kind and of another, and then after the end
    store.create(CONFIG_MAP, named("b"));
    store.create(ENDPOINTS, named("e"));
    store.writes().update(CONFIG_MAP, with(named("a"), "k", "v"));
    store.delete(CONFIG_MAP, "default", "b");
    loop.run();
    subscription.close();
    store.create(CONFIG_MAP, named("c"));
    loop.run();

    // then it heard all of its kind while it lasted
    assertThat(seen).containsExactly("ADDED a", "ADDED b", "MODIFIED a", "DELETED b");
  }

  @Test
  void keepsItsOwnCopiesOfWhatIsWritten() {
    // when callers change what they have written
    var created = with(named("a"), "k", "v");
    var updated = with(named("b"), "k", "v");
    store.create(CONFIG_MAP, created);
    store.create(CONFIG_MAP, named("b"));
    store.writes().update(CONFIG_MAP, updated);
    created.removeAll();
    updated.removeAll();

    // then the store does not
    assertThat(find("a", CONFIG_MAP).at("/data/k").stringValue()).isEqualTo("v");
    assertThat(find("b", CONFIG_MAP).at("/data/k").stringValue()).isEqualTo("v");
  }

  @Test
  void anEditThatFailsHalfway_orThatChangesTheStatus_leavesWhatWasReadBefore() {
    store.create(CONFIG_MAP, with(named("a"), "k", "v"));
    var read = find("a", CONFIG_MAP);
    var text = read.toString();

    assertThatThrownBy(() -> store.edit(CONFIG_MAP, "default", "a", object -> {
      object.withObjectProperty("data").put("k", "other");
      throw StatusException.invalid("data", "no");
    })).isInstanceOf(StatusException.class);
    store.updateStatus(CONFIG_MAP, "default", "a", object -> {
      object.withObjectProperty("status").put("k", "other");
      return object;
    });
    store.edit(CONFIG_MAP, "default", "a", object -> {
      object.withObjectProperty("data").put("k", "third");
      return object;
    });

    assertThat(read).hasToString(text);
    assertThat(find("a", CONFIG_MAP).at("/data/k").stringValue()).isEqualTo("third");
  }

  @Test
  @DisplayName("loses none of many concurrent edits")
  void losesNoneOfManyConcurrentEdits() {
    // given a counter
    store.create(CONFIG_MAP, with(named("a"), "n", "0"));

    // when a hundred threads count to a hundred each
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 100; i++) {
        threads.submit(() -> IntStream.range(0, 100).forEach(
            j -> store.edit(CONFIG_MAP, "default", "a", ApiStoreTest::increment)));
      }
    }

    // then it says ten thousand
    assertThat(find("a", CONFIG_MAP).at("/data/n").stringValue()).isEqualTo("10000");
  }

  private static ObjectNode increment(ObjectNode object) {
    int n = Integer.parseInt(object.at("/data/n").stringValue());
    return with(object, "n", Integer.toString(n + 1));
  }

  private ObjectNode find(String name, Kind kind) {
    return List.copyOf(store.list(kind)).stream().filter(o -> ObjectMeta.name(o).equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static void assertRefused(ThrowingCallable call, int code, String reason,
      String message) {
    assertThatThrownBy(call).asInstanceOf(type(StatusException.class)).satisfies(refused -> {
      assertThat(refused.code()).isEqualTo(code);
      assertThat(refused.reason()).isEqualTo(reason);
      if (message != null) {
        assertThat(refused).hasMessage(message);
      }
    });
  }

  @Test
  void storesNothingThatIsNestedTooDeepToBeSerialized() {
    // when an object of 400 levels is created, then it is stored, and one of 401 is not
    store.create(CONFIG_MAP, nested("a", 400));
    assertRefused(() -> store.create(CONFIG_MAP, nested("b", 401)), 400, "BadRequest",
        "the object is nested deeper than 400 levels");

    // nor one that a hook makes too deep to be written at all
    store.onAdmission(ENDPOINTS, _ -> nested("e", 600));
    assertRefused(() -> store.create(ENDPOINTS, named("e")), 400, "BadRequest", null);
    assertThat(store.list(ENDPOINTS)).isEmpty();
  }

  private static ObjectNode nested(String name, int levels) {
    var object = named(name);
    var inner = object;
    for (int i = 1; i < levels; i++) {
      inner = inner.putObject("x");
    }
    return object;
  }

  @Test
  @DisplayName("gives each change the next version, and a list the last of them")
  void givesEachChangeOfAKindTheNextVersion() {
    var a = store.create(CONFIG_MAP, named("a"));
    var b = store.create(CONFIG_MAP, named("b"));
    var gone = store.delete(CONFIG_MAP, "default", "a", Preconditions.NONE);

    long first = ObjectMeta.revision(a);
    assertThat(ObjectMeta.revision(b)).isEqualTo(first + 1);
    assertThat(ObjectMeta.revision(gone.object())).isEqualTo(first + 2);
    assertThat(store.revision()).isEqualTo(first + 2);
    assertThat(ObjectMeta.revision(find("b", CONFIG_MAP))).isEqualTo(first + 1);
  }
}
