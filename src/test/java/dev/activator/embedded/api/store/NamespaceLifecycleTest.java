package dev.activator.embedded.api.store;

import static dev.activator.embedded.api.Objects.in;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static dev.activator.embedded.api.store.BuiltInKinds.NAMESPACE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.activator.embedded.api.store.ApiStore.MissingNamespace;
import dev.activator.embedded.api.store.ObjectWrites.Preconditions;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class NamespaceLifecycleTest {
  private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-21T10:00:00Z"),
      ZoneOffset.UTC);

  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(CLOCK, new Random(1), MissingNamespace.CREATED);
  private final List<String> received = new ArrayList<>();

  @Test
  void givesEachNamespaceWhatItMustHave() {
    var created = store.create(NAMESPACE, parse("{'metadata':{'name':'team'}}"));

    assertThat(created.at("/status/phase").stringValue()).isEqualTo("Active");
    assertThat(created.at("/spec/finalizers/0").stringValue()).isEqualTo("kubernetes");
    assertThat(created.at("/metadata/labels/kubernetes.io~1metadata.name").stringValue())
        .isEqualTo("team");
  }

  @Test
  void refusesAnObjectOfAMissingNamespace_whereTheCallerMustNotCreateIt() {
    assertThatThrownBy(() -> store.createInNamespace(CONFIG_MAP, in("team", "a")))
        .hasMessage("namespaces \"team\" not found");

    assertThat(store.find(NAMESPACE, "", "team")).isNull();
  }

  @Test
  void deletesWhatIsInANamespaceBeforeTheNamespace() {
    // given a namespace with objects of two kinds, and another
    store.create(CONFIG_MAP, in("team", "a"));
    store.create(ENDPOINTS, in("team", "b"));
    store.create(CONFIG_MAP, in("other", "c"));
    listen();

    // when it is deleted
    var deletion = store.delete(NAMESPACE, "", "team", Preconditions.NONE);
    loop.run();

    // then it is marked, its objects go, it goes, and the other stays
    assertThat(deletion.object().at("/status/phase").stringValue()).isEqualTo("Terminating");
    assertThat(received).containsExactly("MODIFIED team", "DELETED a", "DELETED b", "DELETED team");
    assertThat(store.find(CONFIG_MAP, "other", "c")).isNotNull();
  }

  @Test
  void waitsForTheLastObjectOfANamespace() {
    // given a namespace with an object that has a finalizer
    var held = in("team", "held");
    ObjectMeta.of(held).putArray("finalizers").add("x/y");
    store.create(CONFIG_MAP, held);
    store.create(CONFIG_MAP, in("team", "free"));
    listen();

    // when it is deleted, then nothing new comes in, and it stays
    store.delete(NAMESPACE, "", "team");
    assertRefused(() -> store.create(CONFIG_MAP, in("team", "new")), 403, "Forbidden",
        "configmaps \"new\" is forbidden: unable to create new content in namespace team because it"
            + " is being terminated");
    assertRefused(() -> store.create(NAMESPACE, parse("{'metadata':{'name':'team'}}")), 409,
        "AlreadyExists", "object is being deleted: namespaces \"team\" already exists");
    assertThat(store.find(NAMESPACE, "", "team")).isNotNull();

    // when the finalizer goes, then both do
    store.edit(CONFIG_MAP, "team", "held", NamespaceLifecycleTest::withoutFinalizers);
    loop.run();
    assertThat(received).containsExactly("MODIFIED team", "DELETED free", "MODIFIED held",
        "DELETED held", "DELETED team");
  }

  @Test
  void waitsForTheFinalizersOfANamespaceItself() {
    var namespace = parse("{'metadata':{'name':'team','finalizers':['x/y']}}");
    store.create(NAMESPACE, namespace);
    store.create(CONFIG_MAP, in("team", "a"));

    store.delete(NAMESPACE, "", "team");
    assertThat(store.find(CONFIG_MAP, "team", "a")).isNull();
    assertThat(store.find(NAMESPACE, "", "team")).isNotNull();

    store.edit(NAMESPACE, "", "team", NamespaceLifecycleTest::withoutFinalizers);
    assertThat(store.find(NAMESPACE, "", "team")).isNull();
  }

  @Test
  void keepsANamespaceWhoseFinalizersGoBeforeItsObjects() {
    // given a namespace with a finalizer, and an object in it with another
    store.create(NAMESPACE, parse("{'metadata':{'name':'team','finalizers':['x/y']}}"));
    var held = in("team", "held");
    ObjectMeta.of(held).putArray("finalizers").add("x/y");
    store.create(CONFIG_MAP, held);
    store.delete(NAMESPACE, "", "team");

    // when the namespace's goes first, then it stays until the object is gone
    store.edit(NAMESPACE, "", "team", NamespaceLifecycleTest::withoutFinalizers);
    assertThat(store.find(NAMESPACE, "", "team")).isNotNull();
    store.edit(CONFIG_MAP, "team", "held", NamespaceLifecycleTest::withoutFinalizers);
    assertThat(store.find(NAMESPACE, "", "team")).isNull();
  }

  @Test
  void keepsTheNamespacesThatMayNotBeDeleted() {
    assertRefused(() -> store.delete(NAMESPACE, "", "default"), 403, "Forbidden",
        "namespaces \"default\" is forbidden: this namespace may not be deleted");
  }

  @Test
  void refusesAMissingNamespace_whenStrict() {
    var strict = new ApiStore(CLOCK, new Random(1), MissingNamespace.REFUSED);

    assertRefused(() -> strict.create(CONFIG_MAP, in("team", "a")), 404, "NotFound",
        "namespaces \"team\" not found");
    assertThat(strict.create(CONFIG_MAP, in("default", "a"))).isNotNull();
  }

  private void listen() {
    for (var kind : List.of(NAMESPACE, CONFIG_MAP, ENDPOINTS)) {
      store.subscribe(kind, loop,
          event -> received.add(event.type() + " " + ObjectMeta.name(event.object())));
    }
    loop.run();
    received.clear();
  }

  private static ObjectNode withoutFinalizers(ObjectNode object) {
    ObjectMeta.of(object).remove("finalizers");
    return object;
  }

  private static void assertRefused(ThrowingCallable call, int code, String reason,
      String message) {
    assertThatThrownBy(call).asInstanceOf(type(StatusException.class)).satisfies(refused -> {
      assertThat(refused.code()).isEqualTo(code);
      assertThat(refused.reason()).isEqualTo(reason);
      assertThat(refused).hasMessage(message);
    });
  }
}
