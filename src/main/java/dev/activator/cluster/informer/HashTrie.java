package dev.activator.cluster.informer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A map from strings. Immutable: a change makes a new one that shares all but the path to it, so
 * that a reader can keep the state of one moment, for nothing, while writers go on.
 *
 * <p>
 * <b>Source.</b> Bagwell, "Ideal Hash Trees", 2001, without its tables for large roots.
 */
final class HashTrie<V> {
  private static final int BITS = 5;

  private sealed interface Node<V> {}

  /** What one key holds. */
  private record Leaf<V>(String key, V value) implements Node<V> {}

  /** Leaves of one hash. */
  private record Crowd<V>(List<Leaf<V>> leaves) implements Node<V> {}

  /**
   * @param bitmap which of 32 branches there are
   * @param branches those, in order
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared, never shared
  private record Fork<V>(int bitmap, Node<V>[] branches) implements Node<V> {
    boolean has(int bit) {
      return (bitmap & bit) != 0;
    }

    int position(int bit) {
      return Integer.bitCount(bitmap & bit - 1);
    }
  }

  private static final HashTrie<?> EMPTY = new HashTrie<>(null, 0);

  private final @Nullable Node<V> root;
  private final int size;

  private HashTrie(@Nullable Node<V> root, int size) {
    this.root = root;
    this.size = size;
  }

  @SuppressWarnings("unchecked") // holds no value
  static <V> HashTrie<V> empty() {
    return (HashTrie<V>) EMPTY;
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  @Nullable V find(String key) {
    int hash = hash(key);
    var node = root;
    for (int shift = 0; node instanceof Fork<V> fork; shift += BITS) {
      int bit = bit(hash, shift);
      node = fork.has(bit) ? fork.branches()[fork.position(bit)] : null;
    }
    return switch (node) {
      case Leaf<V>(var other, var value) when other.equals(key) -> value;
      case Crowd<V>(var leaves) -> leaves.stream().filter(leaf -> leaf.key().equals(key))
          .map(Leaf::value).findFirst().orElse(null);
      case null, default -> null;
    };
  }

  HashTrie<V> with(String key, V value) {
    int more = find(key) == null ? 1 : 0;
    return new HashTrie<>(add(root, new Leaf<>(key, value), 0), size + more);
  }

  HashTrie<V> without(String key) {
    if (root == null || find(key) == null) {
      return this;
    }
    return size == 1 ? empty() : new HashTrie<>(remove(root, key, 0), size - 1);
  }

  /** In an order that depends on the keys alone. */
  void forEach(BiConsumer<String, V> action) {
    each(root, action);
  }

  List<V> values() {
    var all = new ArrayList<V>(size);
    forEach((_, value) -> all.add(value));
    return all;
  }

  private static <V> void each(@Nullable Node<V> node, BiConsumer<String, V> action) {
    switch (node) {
      case null -> {
      }
      case Leaf<V>(var key, var value) -> action.accept(key, value);
      case Crowd<V>(var leaves) -> leaves.forEach(leaf -> each(leaf, action));
      case Fork<V> fork -> {
        for (var branch : fork.branches()) {
          each(branch, action);
        }
      }
    }
  }

  private static <V> Node<V> add(@Nullable Node<V> node, Leaf<V> leaf, int shift) {
    return switch (node) {
      case null -> leaf;
      case Fork<V> fork -> fork(fork, leaf, shift);
      case Leaf<V> old when old.key().equals(leaf.key()) -> leaf;
      case Leaf<V> old -> part(old, old.key(), leaf, shift);
      case Crowd<V> crowd -> part(crowd, crowd.leaves().getFirst().key(), leaf, shift);
    };
  }

  private static <V> Node<V> fork(Fork<V> fork, Leaf<V> leaf, int shift) {
    int bit = bit(hash(leaf.key()), shift);
    int at = fork.position(bit);
    var old = fork.branches();
    if (fork.has(bit)) {
      var branches = old.clone();
      branches[at] = add(old[at], leaf, shift + BITS);
      return new Fork<>(fork.bitmap(), branches);
    }
    var branches = Arrays.copyOf(old, old.length + 1);
    branches[at] = leaf;
    System.arraycopy(old, at, branches, at + 1, old.length - at);
    return new Fork<>(fork.bitmap() | bit, branches);
  }

  /** Makes room for a leaf where something with another key is. */
  private static <V> Node<V> part(Node<V> old, String oldKey, Leaf<V> leaf, int shift) {
    int hash = hash(oldKey);
    if (hash == hash(leaf.key())) {
      return crowd(old, leaf);
    }
    Node<V>[] branches = branches(old);
    return fork(new Fork<>(bit(hash, shift), branches), leaf, shift);
  }

  private static <V> Node<V> crowd(Node<V> old, Leaf<V> leaf) {
    var leaves = new ArrayList<Leaf<V>>();
    each(old, (key, value) -> {
      if (!key.equals(leaf.key())) {
        leaves.add(new Leaf<>(key, value));
      }
    });
    leaves.add(leaf);
    return new Crowd<>(List.copyOf(leaves));
  }

  private static <V> @Nullable Node<V> remove(Node<V> node, String key, int shift) {
    return switch (node) {
      case Leaf<V> _ -> null;
      case Crowd<V>(var leaves) -> {
        var left = leaves.stream().filter(leaf -> !leaf.key().equals(key)).toList();
        yield left.size() == 1 ? left.getFirst() : new Crowd<>(left);
      }
      case Fork<V> fork -> prune(fork, key, shift);
    };
  }

  private static <V> @Nullable Node<V> prune(Fork<V> fork, String key, int shift) {
    int bit = bit(hash(key), shift);
    int at = fork.position(bit);
    var old = fork.branches();
    var left = remove(Objects.requireNonNull(old[at]), key, shift + BITS);
    if (left != null) {
      // A lone leaf moves up, so that equal maps have equal shapes.
      if (old.length == 1 && !(left instanceof Fork<V>)) {
        return left;
      }
      var branches = old.clone();
      branches[at] = left;
      return new Fork<>(fork.bitmap(), branches);
    }
    return shrink(fork, bit, at);
  }

  private static <V> @Nullable Node<V> shrink(Fork<V> fork, int bit, int at) {
    var old = fork.branches();
    if (old.length == 1) {
      return null;
    }
    if (old.length == 2 && !(old[1 - at] instanceof Fork<V>)) {
      return old[1 - at];
    }
    var branches = Arrays.copyOf(old, old.length - 1);
    System.arraycopy(old, at + 1, branches, at, old.length - at - 1);
    return new Fork<>(fork.bitmap() & ~bit, branches);
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
  private static <V> Node<V>[] branches(Node<V> only) {
    return new Node[]{only};
  }

  private static int bit(int hash, int shift) {
    return 1 << (hash >>> shift);
  }

  /** Keys of one namespace differ in their ends; the last bits must, too. */
  private static int hash(String key) {
    int hash = key.hashCode();
    return hash ^ hash >>> 15;
  }
}
