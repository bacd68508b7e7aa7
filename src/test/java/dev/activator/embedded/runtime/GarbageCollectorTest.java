package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.Propagation;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class GarbageCollectorTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(Clock.systemUTC());

  @BeforeEach
  void start() {
    new GarbageCollector(store, loop).start();
    loop.run();
  }

  @Test
  void deletesDependentsOfDependents_afterTheirOwnerIsDeleted() {
    create("owner");
    create("child", "owner");
    create("grandchild", "child");
    create("stranger");

    delete("owner", Propagation.BACKGROUND);
    assertThat(names()).containsExactly("child", "grandchild", "stranger");
    loop.run();

    assertThat(names()).containsExactly("stranger");
  }

  @Test
  void keepsAnObjectWithAnotherOwner_andDropsTheReference() {
    create("one");
    create("two");
    create("child", "one", "two");

    delete("one", Propagation.UNSET);
    loop.run();

    assertThat(names()).containsExactly("child", "two");
    assertThat(owners("child")).containsExactly(uid("two"));
  }

  @Test
  void keepsDependents_whenTheirOwnerOrphansThem() {
    create("owner");
    create("child", "owner");

    delete("owner", Propagation.ORPHAN);
    assertThat(find("owner").at("/metadata/finalizers/0").stringValue()).isEqualTo("orphan");
    loop.run();

    assertThat(names()).containsExactly("child");
    assertThat(owners("child")).isEmpty();
    assertThat(find("child").path("metadata").has("ownerReferences")).isFalse();
  }

  @Test
  void keepsTheOwner_untilDependentsThatBlockItAreGone() {
    create("owner");
    create("child", "owner");
    create("grandchild", "child");
    store.edit(BuiltInKinds.CONFIG_MAP, "default", "grandchild", found -> {
      ObjectMeta.of(found).putArray("finalizers").add("example.com/wait");
      return found;
    });

    delete("owner", Propagation.FOREGROUND);
    loop.run();
    assertThat(names()).containsExactly("child", "grandchild", "owner");
    assertThat(find("owner").at("/metadata/finalizers/0").stringValue())
        .isEqualTo("foregroundDeletion");
    assertThat(ObjectMeta.terminating(find("child"))).isTrue();

    store.edit(BuiltInKinds.CONFIG_MAP, "default", "grandchild", found -> {
      ObjectMeta.of(found).remove("finalizers");
      return found;
    });
    loop.run();

    assertThat(names()).isEmpty();
  }

  @Test
  void letsTheOwnerGoBeforeDependentsThatDoNotBlockIt() {
    create("owner");
    create("child", "owner");
    store.edit(BuiltInKinds.CONFIG_MAP, "default", "child", found -> {
      ((ObjectNode) found.at("/metadata/ownerReferences/0")).remove("blockOwnerDeletion");
      ObjectMeta.of(found).putArray("finalizers").add("example.com/wait");
      return found;
    });
    loop.run();

    delete("owner", Propagation.FOREGROUND);
    loop.run();

    assertThat(names()).containsExactly("child");
    assertThat(ObjectMeta.terminating(find("child"))).isTrue();
  }

  @Test
  void deletesAnObjectThatIsCreatedAfterItsOwnerIsGone() {
    create("owner");
    loop.run();
    var child = object("child", "owner");
    delete("owner", Propagation.BACKGROUND);

    store.create(BuiltInKinds.CONFIG_MAP, child);
    loop.run();

    assertThat(names()).isEmpty();
  }

  @Test
  void keepsAnObjectWhoseOwnerIsOfAnUnknownKind() {
    store.create(BuiltInKinds.CONFIG_MAP, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'child', 'ownerReferences': [{'apiVersion':
          'example.com/v1', 'kind': 'Unknown', 'name': 'o', 'uid': 'u'}]}}"""));
    loop.run();

    assertThat(names()).containsExactly("child");
  }

  @Test
  void endsADeletionThatWaits_whenItIsDeletedInTheBackground() {
    create("owner");
    create("child", "owner");
    delete("owner", Propagation.FOREGROUND);
    delete("owner", Propagation.BACKGROUND);

    assertThat(names()).containsExactly("child");
    loop.run();
    assertThat(names()).isEmpty();
  }

  private void create(String name, String... owners) {
    store.create(BuiltInKinds.CONFIG_MAP, object(name, owners));
    loop.run();
  }

  private ObjectNode object(String name, String... owners) {
    var object = Objects.named(name);
    var references = ObjectMeta.of(object).putArray("ownerReferences");
    for (var owner : owners) {
      references.addObject().put("apiVersion", "v1").put("kind", "ConfigMap").put("name", owner)
          .put("uid", uid(owner)).put("blockOwnerDeletion", true);
    }
    return object;
  }

  private void delete(String name, Propagation propagation) {
    store.delete(BuiltInKinds.CONFIG_MAP, "default", name, uid(name), propagation);
  }

  private ObjectNode find(String name) {
    return store.find(BuiltInKinds.CONFIG_MAP, "default", name);
  }

  private String uid(String name) {
    return ObjectMeta.uid(find(name));
  }

  private List<String> owners(String name) {
    return find(name).at("/metadata/ownerReferences").valueStream()
        .map(owner -> owner.path("uid").asString("")).toList();
  }

  private List<String> names() {
    return store.list(BuiltInKinds.CONFIG_MAP).stream().map(ObjectMeta::name).toList();
  }
}
