package dev.activator.kube.informer;

import static dev.activator.kube.informer.Seen.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.Seeds;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class IndexedStoreTest {
  private static final String WORDS = "words";
  private final IndexedStore<String> store = new IndexedStore<>();

  @Test
  @DisplayName("keeps an object whose index function throws, and all others")
  void keepsWhatCannotBeIndexed() {
    store.addIndex(WORDS, IndexedStoreTest::words);
    store.addIndex("picky", object -> {
      if (object.key().equals("x")) {
        throw new IllegalStateException("on purpose");
      }
      return List.of("fine");
    });

    store.put(at("x", 1, "red"));
    store.put(at("y", 1, "red"));

    assertThat(store.find("x")).isEqualTo(at("x", 1, "red"));
    assertThat(keys("picky", "fine")).containsExactly("y");
    assertThat(keys(WORDS, "red")).containsExactlyInAnyOrder("x", "y");
  }

  @Test
  @DisplayName("indexes what is there when an index is added")
  void indexesWhatIsThereAlready() {
    store.put(at("x", 1, "red"));
    store.put(at("y", 1, "red blue"));
    store.put(at("z", 1, "blue"));

    store.addIndex(WORDS, IndexedStoreTest::words);

    assertThat(keys(WORDS, "red")).containsExactlyInAnyOrder("x", "y");
    assertThat(keys(WORDS, "blue")).containsExactlyInAnyOrder("y", "z");
  }

  @Test
  @DisplayName("refuses a second index of a name")
  void refusesASecondIndexOfAName() {
    store.addIndex(WORDS, IndexedStoreTest::words);

    assertThatThrownBy(() -> store.addIndex(WORDS, _ -> List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("There is an index named \"words\" already");
  }

  @Test
  @DisplayName("names an index that is not there, and those that are")
  void namesAnUnknownIndex() {
    store.addIndex(WORDS, IndexedStoreTest::words);

    assertThatThrownBy(() -> store.by("colours", "red"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("No index is named \"colours\"; there are [words]");
  }

  @Test
  @DisplayName("moves an object whose values change, and forgets a value without objects")
  void movesAnObjectBetweenValues() {
    store.addIndex(WORDS, IndexedStoreTest::words);
    store.put(at("x", 1, "red blue"));
    store.put(at("y", 1, "blue"));

    store.put(at("x", 2, "green"));
    assertThat(store.values(WORDS)).containsExactlyInAnyOrder("blue",
        "green");
    assertThat(store.by(WORDS, "green")).containsExactly(at("x", 2, "green"));
    store.remove("y");
    assertThat(store.values(WORDS)).containsExactly("green");
    store.remove("x");

    assertThat(store.values(WORDS)).isEmpty();
  }

  @Test
  void takesAnObjectOutOfTheValuesItWasPutUnder() {
    // given an index function that says something else each time
    var calls = new int[1];
    store.addIndex("odd", _ -> List.of("value " + calls[0]++));

    store.put(at("x", 1));
    store.put(at("x", 2));

    assertThat(store.values("odd")).containsExactly("value 1");
  }

  @Test
  void keepsWhatWasReadAsItWas() {
    store.addIndex(WORDS, IndexedStoreTest::words);
    store.put(at("x", 1, "red"));
    var all = store.all();
    var red = store.by(WORDS, "red");
    store.put(at("x", 2, "blue"));
    store.put(at("y", 2, "red"));
    assertThat(all).containsExactly(at("x", 1, "red"));
    assertThat(red).containsExactly(at("x", 1, "red"));
  }

  @Test
  @DisplayName("never shows an object that moves where it is no longer")
  void neverShowsHalfAMove() throws Exception {
    store.addIndex(WORDS, IndexedStoreTest::words);
    store.put(at("x", 0, "A"));
    var moved = new CompletableFuture<Void>();
    Thread.ofPlatform().daemon().start(() -> {
      for (int i = 1; i <= 100_000; i++) {
        store.put(at("x", i, i % 2 == 0 ? "A" : "B"));
      }
      moved.complete(null);
    });

    while (!moved.isDone()) {
      assertThat(store.by(WORDS, "A")).allMatch(found -> words(found).contains("A"));
    }

    moved.get(120, TimeUnit.SECONDS);
    assertThat(store.find("x")).isEqualTo(at("x", 100_000, "A"));
  }

  @Test
  void findsWhatASearchWouldFind() {
    Seeds.each(seed -> new IndexedStoreTest().findsWhatASearchWouldFind(seed));
  }

  private void findsWhatASearchWouldFind(long seed) {
    var random = new Random(seed);
    var model = new HashMap<String, VersionedObject<String>>();
    int indexFrom = random.nextInt(100);

    for (int i = 0; i < 200; i++) {
      if (i == indexFrom) {
        store.addIndex(WORDS, IndexedStoreTest::words);
      }
      var key = "k" + random.nextInt(30);
      if (random.nextInt(3) == 0) {
        assertThat(store.remove(key)).isEqualTo(model.remove(key));
      } else {
        var now = at(key, i, "w" + random.nextInt(5) + " w" + random.nextInt(5));
        store.put(now);
        model.put(key, now);
      }
    }

    assertThat(store.all()).containsExactlyInAnyOrderElementsOf(model.values());
    assertThat(indexed()).isEqualTo(searched(model));
  }

  private Map<String, Set<String>> indexed() {
    var indexed = new TreeMap<String, Set<String>>();
    for (var value : store.values(WORDS)) {
      indexed.put((String) value, new TreeSet<>(keys(WORDS, value)));
    }
    return indexed;
  }

  private static Map<String, Set<String>> searched(Map<String, VersionedObject<String>> model) {
    var searched = new TreeMap<String, Set<String>>();
    model.values().forEach(object -> words(object).forEach(
        word -> searched.computeIfAbsent(word, _ -> new TreeSet<>()).add(object.key())));
    return searched;
  }

  private List<String> keys(String index, Object value) {
    return store.by(index, value).stream().map(VersionedObject::key).toList();
  }

  private static List<String> words(VersionedObject<String> object) {
    return List.of(object.object().split(" "));
  }
}
