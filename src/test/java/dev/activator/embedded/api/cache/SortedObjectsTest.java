package dev.activator.embedded.api.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SortedObjectsTest {
  @Test
  void agreesWithATreeMapAndNeverChanges() {
    Seeds.each(seed -> new SortedObjectsTest().agreesWithATreeMapAndNeverChanges(seed));
  }

  private void agreesWithATreeMapAndNeverChanges(long seed) {
    var random = new Random(seed);
    var expected = new TreeMap<String, WatchCacheObject>();
    var objects = SortedObjects.EMPTY;
    for (int i = 0; i < 200; i++) {
      // when one of twenty keys is set or taken out
      var before = objects;
      var copy = List.copyOf(expected.values());
      var object = object("ns" + random.nextInt(4), "o" + random.nextInt(5), i + 1);
      if (random.nextInt(3) == 0) {
        objects = objects.without(object.key());
        expected.remove(object.key());
      } else {
        objects = objects.with(object);
        expected.put(object.key(), object);
      }

      // then the new set is as it should be, and the old one as it was
      assertThat(FedCache.all(objects)).isEqualTo(List.copyOf(expected.values()));
      assertThat(objects.size()).isEqualTo(expected.size());
      assertThat(objects.find(object.key())).isSameAs(expected.get(object.key()));
      assertThat(FedCache.all(before)).isEqualTo(copy);
    }
    // and a part of it begins and ends where it should
    var part = new ArrayList<WatchCacheObject>();
    objects.from("ns1/o2", "ns1/").forEachRemaining(part::add);
    assertThat(part).containsExactlyElementsOf(expected.subMap("ns1/o2", "ns1/p").values());
  }

  @Test
  void doesNotTakeOneNamespaceForAnotherThatBeginsLikeIt() {
    var objects = SortedObjects.EMPTY
        .withAll(List.of(object("ns1", "a", 1), object("ns10", "b", 2)));

    var part = new ArrayList<String>();
    objects.from("", "ns1/").forEachRemaining(object -> part.add(object.key()));

    assertThat(part).containsExactly("ns1/a");
  }

  private static WatchCacheObject object(String namespace, String name, long revision) {
    var object = Objects.in(namespace, name);
    ObjectMeta.of(object).put("resourceVersion", Long.toString(revision));
    return WatchCacheObject.of(BuiltInKinds.CONFIG_MAP, object);
  }
}
