package dev.activator.embedded.api.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.policy.FieldSelector;
import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Lists by namespace, name, label and field, with an index and without. */
class IndexTest {
  private static final String LABEL = "serving.knative.dev/revision";
  private static final List<IndexedField> INDEXERS = List.of(IndexedField.label(LABEL),
      IndexedField.field("spec.nodeName"));

  private final Random random = new Random(11);

  @Test
  @DisplayName("holds what was put in, and each index what it should, after a thousand changes")
  void holdsWhatWasPutIn() {
    var expected = new TreeMap<String, WatchCacheObject>();
    var objects = SortedObjects.indexed(INDEXERS);
    for (int i = 1; i <= 1_000; i++) {
      var object = pod(i);
      if (random.nextInt(4) == 0) {
        objects = objects.without(object.key());
        expected.remove(object.key());
      } else {
        objects = objects.with(object);
        expected.put(object.key(), object);
      }
    }

    assertThat(FedCache.all(objects)).isEqualTo(List.copyOf(expected.values()));
    for (int value = 0; value < 4; value++) {
      var selection = selection("", LABEL + "=r" + value, "");
      var candidates = new ArrayList<WatchCacheObject>();
      objects.candidates(selection, "").forEachRemaining(candidates::add);
      // An index knows exactly: nothing is left for the selector to throw out.
      assertThat(candidates)
          .isEqualTo(expected.values().stream().filter(selection::passes).toList());
    }
  }

  @Test
  @DisplayName("lists the same with an index as without, for a thousand selectors")
  void listsTheSameWithAnIndexAsWithout() {
    var pods = new ArrayList<WatchCacheObject>();
    for (int i = 1; i <= 300; i++) {
      pods.add(pod(i));
    }
    var plain = SortedObjects.EMPTY.withAll(pods);
    var indexed = SortedObjects.indexed(INDEXERS).withAll(pods);

    for (int i = 0; i < 1_000; i++) {
      var selection = selection(some("", "ns1", "ns10", "ns2"),
          some("", LABEL + "=r1", LABEL + " in (r2)", LABEL + " in (r1,r2)", LABEL + "!=r1",
              LABEL, "!" + LABEL, "other=1"),
          some("", "spec.nodeName=n1", "spec.nodeName!=n1", "spec.nodeName=", "metadata.name=p3",
              "metadata.name=p3,spec.nodeName=n2"));
      String from = some("", "ns1/p2", selection.prefix() + "p1");
      assertThat(list(indexed, selection, from)).as("%s from %s", selection, from)
          .isEqualTo(list(plain, selection, from))
          .isEqualTo(FedCache.all(plain).stream().filter(selection::passes)
              .filter(object -> object.key().compareTo(from) >= 0).toList());
    }
  }

  @Test
  @DisplayName("does not take one namespace for another that begins like it")
  void doesNotTakeOneNamespaceForAnother() {
    var objects = SortedObjects.EMPTY.withAll(List.of(
        WatchCacheObject.of(BuiltInKinds.POD, versioned(Objects.in("ns1", "a"), 1)),
        WatchCacheObject.of(BuiltInKinds.POD, versioned(Objects.in("ns10", "b"), 2))));

    assertThat(list(objects, selection("ns1", "", ""), "")).hasToString("[ns1/a@1]");
  }

  @Test
  @DisplayName("lists in order of namespace and name")
  void listsInOrderOfNamespaceAndName() {
    var keys = new ArrayList<String>();
    var objects = SortedObjects.indexed(INDEXERS);
    for (int i = 1; i <= 300; i++) {
      objects = objects.with(pod(i));
    }
    FedCache.all(objects).forEach(object -> keys.add(object.key()));

    assertThat(keys).isSorted().doesNotHaveDuplicates();
  }

  private static List<WatchCacheObject> list(SortedObjects objects, ObjectSelection selection,
      String from) {
    var list = new ArrayList<WatchCacheObject>();
    selection.in(objects, from).forEachRemaining(list::add);
    return list;
  }

  private static ObjectSelection selection(String namespace, String labels, String fields) {
    return new ObjectSelection(namespace, LabelSelector.parse(labels), FieldSelector.parse(fields));
  }

  private WatchCacheObject pod(long revision) {
    var pod = versioned(Objects.in(some("ns1", "ns2", "ns10"), "p" + random.nextInt(12)), revision);
    if (random.nextInt(5) > 0) {
      ObjectMeta.of(pod).putObject("labels").put(LABEL, "r" + random.nextInt(4));
    }
    pod.putObject("spec").put("nodeName", some("", "n1", "n2"));
    return WatchCacheObject.of(BuiltInKinds.POD, pod);
  }

  private static ObjectNode versioned(ObjectNode object, long revision) {
    ObjectMeta.of(object).put("resourceVersion", Long.toString(revision));
    return object;
  }

  private String some(String... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
