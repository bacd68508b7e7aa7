package dev.activator.embedded.api.cache;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Values sorted by key. Immutable; a change shares all but its path, so that each event of the
 * window can keep its state.
 *
 * <p><b>Source.</b> A treap (Seidel and Aragon, 1996) whose priorities are hashes of the keys.
 */
final class SortedTree<V> {
  private final @Nullable Node<V> root;

  private record Node<V>(String key, V value, @Nullable Node<V> left, @Nullable Node<V> right,
      int size) {
    Node<V> with(@Nullable Node<V> newLeft, @Nullable Node<V> newRight) {
      return new Node<>(key, value, newLeft, newRight, count(newLeft) + count(newRight) + 1);
    }

    int priority() {
      return mix(key.hashCode());
    }
  }

  private SortedTree(@Nullable Node<V> root) {
    this.root = root;
  }

  static <V> SortedTree<V> empty() {
    return new SortedTree<>(null);
  }

  int size() {
    return count(root);
  }

  @Nullable V find(String key) {
    var node = root;
    while (node != null) {
      int order = key.compareTo(node.key());
      if (order == 0) {
        return node.value();
      }
      node = order < 0 ? node.left() : node.right();
    }
    return null;
  }

  SortedTree<V> with(String key, V value) {
    return new SortedTree<>(put(root, new Node<>(key, value, null, null, 1)));
  }

  SortedTree<V> without(String key) {
    return new SortedTree<>(remove(root, key));
  }

  /** Sorted, from the first key with the prefix that is not before {@code from}. */
  Iterator<V> from(String from, String prefix) {
    return new Walk<>(root, from.compareTo(prefix) < 0 ? prefix : from, prefix);
  }

  private static <V> Node<V> put(@Nullable Node<V> node, Node<V> fresh) {
    if (node == null) {
      return fresh;
    }
    int order = fresh.key().compareTo(node.key());
    if (order == 0) {
      return fresh.with(node.left(), node.right());
    }
    if (order < 0) {
      var left = put(node.left(), fresh);
      return left.priority() > node.priority()
          ? left.with(left.left(), node.with(left.right(), node.right()))
          : node.with(left, node.right());
    }
    var right = put(node.right(), fresh);
    return right.priority() > node.priority()
        ? right.with(node.with(node.left(), right.left()), right.right())
        : node.with(node.left(), right);
  }

  private static <V> @Nullable Node<V> remove(@Nullable Node<V> node, String key) {
    if (node == null) {
      return null;
    }
    int order = key.compareTo(node.key());
    if (order == 0) {
      return merge(node.left(), node.right());
    }
    return order < 0
        ? node.with(remove(node.left(), key), node.right())
        : node.with(node.left(), remove(node.right(), key));
  }

  private static <V> @Nullable Node<V> merge(@Nullable Node<V> low, @Nullable Node<V> high) {
    if (low == null || high == null) {
      return low == null ? high : low;
    }
    return low.priority() > high.priority()
        ? low.with(low.left(), merge(low.right(), high))
        : high.with(merge(low, high.left()), high.right());
  }

  private static int count(@Nullable Node<?> node) {
    return node == null ? 0 : node.size();
  }

  /** Without mixing, the tree would be a list: neighbouring keys have neighbouring hashes. */
  private static int mix(int hash) {
    int h = hash * 0x9E3779B9;
    h = (h ^ h >>> 15) * 0x85EBCA6B;
    return h ^ h >>> 13;
  }

  private static final class Walk<V> implements Iterator<V> {
    private final Deque<Node<V>> path = new ArrayDeque<>();
    private final String prefix;

    Walk(@Nullable Node<V> root, String from, String prefix) {
      this.prefix = prefix;
      var node = root;
      while (node != null) {
        boolean before = node.key().compareTo(from) < 0;
        if (!before) {
          path.push(node);
        }
        node = before ? node.right() : node.left();
      }
    }

    @Override
    public boolean hasNext() {
      var next = path.peek();
      return next != null && next.key().startsWith(prefix);
    }

    @Override
    public V next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      var next = path.pop();
      for (var node = next.right(); node != null; node = node.left()) {
        path.push(node);
      }
      return next.value();
    }
  }
}
