package dev.activator.cluster.informer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HashTrieTest {
  /** Strings of these two halves collide, two by two, four by four. */
  private static final List<String> TWINS = List.of("Aa", "BB");

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("dev.activator.testing.Seeds#first300")
  void holdsWhatAMapHolds(long seed) {
    var random = new Random(seed);
    var trie = HashTrie.<Integer>empty();
    var map = new HashMap<String, Integer>();
    int keys = 1 + random.nextInt(200);

    for (int i = 0; i < 300; i++) {
      var key = key(random, keys);
      if (random.nextInt(5) < 2) {
        trie = trie.without(key);
        map.remove(key);
      } else {
        trie = trie.with(key, i);
        map.put(key, i);
      }
      assertThat(trie.size()).isEqualTo(map.size());
      assertThat(trie.find(key)).isEqualTo(map.get(key));
    }

    assertThat(contents(trie)).isEqualTo(map);
    for (var key : map.keySet()) {
      assertThat(trie.find(key)).isEqualTo(map.get(key));
      trie = trie.without(key);
    }
    assertThat(trie.isEmpty()).isTrue();
  }

  @Test
  void keepsKeysOfOneHashApart() {
    assertThat("AaAa").hasSameHashCodeAs("BBBB").hasSameHashCodeAs("AaBB");

    var trie = HashTrie.<Integer>empty().with("AaAa", 1).with("BBBB", 2).with("AaBB", 3)
        .with("BBBB", 4).without("AaBB");

    assertThat(contents(trie)).isEqualTo(Map.of("AaAa", 1, "BBBB", 4));
    assertThat(trie.find("AaBB")).isNull();
    assertThat(contents(trie.without("AaAa"))).isEqualTo(Map.of("BBBB", 4));
  }

  @Test
  void leavesWhatItWasMadeFromAsItWas() {
    var before = HashTrie.<Integer>empty().with("a", 1).with("b", 2);

    before.with("a", 3).without("b").with("c", 4);

    assertThat(contents(before)).isEqualTo(Map.of("a", 1, "b", 2));
  }

  private static String key(Random random, int keys) {
    int number = random.nextInt(keys);
    return TWINS.get(number & 1) + TWINS.get(number >> 1 & 1) + number / 4;
  }

  private static Map<String, Integer> contents(HashTrie<Integer> trie) {
    var contents = new HashMap<String, Integer>();
    trie.forEach(contents::put);
    assertThat(trie.values()).containsExactlyInAnyOrderElementsOf(contents.values());
    return contents;
  }
}
