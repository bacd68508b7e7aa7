package dev.activator.embedded.api.cache;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A set of objects in order of their keys. Immutable: a change makes a new one that shares all but
 * the path to it, so that the state at each event of the window costs next to nothing to keep.
 *
 * <p>
 * <b>Source.</b> A treap (Seidel and Aragon, "Randomized Search Trees", 1996) whose priorities are
 * hashes of the keys, so that equal sets have equal shapes.
 */
public final class SortedObjects {
  public static final SortedObjects EMPTY = new SortedObjects(null);

  private record Node(CachedObject value, @Nullable Node left, @Nullable Node right, int size) {
    static Node of(CachedObject value, @Nullable Node left, @Nullable Node right) {
      return new Node(value, left, right, count(left) + count(right) + 1);
    }

    int priority() {
      return mix(value.key().hashCode());
    }
  }

  private final @Nullable Node root;

  private SortedObjects(@Nullable Node root) {
    this.root = root;
  }

  public static SortedObjects of(List<CachedObject> objects) {
    var all = EMPTY;
    for (var object : objects) {
      all = all.with(object);
    }
    return all;
  }

  public int size() {
    return count(root);
  }

  public @Nullable CachedObject find(String key) {
    var node = root;
    while (node != null) {
      int order = key.compareTo(node.value().key());
      if (order == 0) {
        return node.value();
      }
      node = order < 0 ? node.left() : node.right();
    }
    return null;
  }

  /** With this object in place of what has its key. */
  public SortedObjects with(CachedObject object) {
    return new SortedObjects(put(root, object));
  }

  public SortedObjects without(String key) {
    return new SortedObjects(remove(root, key));
  }

  /** Those whose key begins with the prefix and is not before {@code from}, in order. */
  public Iterator<CachedObject> from(String from, String prefix) {
    return new Walk(from.compareTo(prefix) < 0 ? prefix : from, prefix);
  }

  public Stream<CachedObject> stream() {
    return StreamSupport.stream(Spliterators.spliterator(from("", ""), size(),
        Spliterator.ORDERED | Spliterator.NONNULL | Spliterator.IMMUTABLE), false);
  }

  private static Node put(@Nullable Node node, CachedObject object) {
    if (node == null) {
      return Node.of(object, null, null);
    }
    int order = object.key().compareTo(node.value().key());
    if (order == 0) {
      return Node.of(object, node.left(), node.right());
    }
    if (order < 0) {
      var left = put(node.left(), object);
      return left.priority() > node.priority()
          ? Node.of(left.value(), left.left(), Node.of(node.value(), left.right(), node.right()))
          : Node.of(node.value(), left, node.right());
    }
    var right = put(node.right(), object);
    return right.priority() > node.priority()
        ? Node.of(right.value(), Node.of(node.value(), node.left(), right.left()), right.right())
        : Node.of(node.value(), node.left(), right);
  }

  private static @Nullable Node remove(@Nullable Node node, String key) {
    if (node == null) {
      return null;
    }
    int order = key.compareTo(node.value().key());
    if (order == 0) {
      return merge(node.left(), node.right());
    }
    return order < 0
        ? Node.of(node.value(), remove(node.left(), key), node.right())
        : Node.of(node.value(), node.left(), remove(node.right(), key));
  }

  private static @Nullable Node merge(@Nullable Node low, @Nullable Node high) {
    if (low == null || high == null) {
      return low == null ? high : low;
    }
    return low.priority() > high.priority()
        ? Node.of(low.value(), low.left(), merge(low.right(), high))
        : Node.of(high.value(), merge(low, high.left()), high.right());
  }

  private static int count(@Nullable Node node) {
    return node == null ? 0 : node.size();
  }

  /** Neighbouring keys have neighbouring hashes; without this the tree would be a list. */
  private static int mix(int hash) {
    int h = hash * 0x9E3779B9;
    h = (h ^ h >>> 15) * 0x85EBCA6B;
    return h ^ h >>> 13;
  }

  /** In order, from some key on; the way back up is on a stack. */
  private final class Walk implements Iterator<CachedObject> {
    private final Deque<Node> path = new ArrayDeque<>();
    private final String prefix;

    Walk(String from, String prefix) {
      this.prefix = prefix;
      var node = root;
      while (node != null) {
        boolean before = node.value().key().compareTo(from) < 0;
        if (!before) {
          path.push(node);
        }
        node = before ? node.right() : node.left();
      }
    }

    @Override
    public boolean hasNext() {
      var next = path.peek();
      return next != null && next.value().key().startsWith(prefix);
    }

    @Override
    public CachedObject next() {
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
