package dev.activator.testing.quiescence;

import dev.activator.loop.NettyLoop;
import dev.activator.testing.quiescence.AtRest.Rule;
import dev.activator.testing.SteppedLoop;
import dev.activator.testing.VirtualLoop;
import io.netty.channel.Channel;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The project's objects that can be reached from some roots through fields, collections, lambdas and
 * channels, and what of them is not at rest by {@link AtRest}.
 */
final class ObjectGraph {
  /** An object, and how it was reached. */
  private record Reached(Object object, @Nullable Reached from, String by) {
    /** By another object than those that are left themselves. */
    boolean isHeldByProduct() {
      if (from == null) {
        return false;
      }
      var holder = from.object.getClass();
      return isOurs(holder)
          ? AtRest.isProduct(holder) && !AtRest.TABLE.isUnreachable(holder)
          : from.isHeldByProduct();
    }

    /** The fields on the way, nearest last. */
    String path() {
      var steps = new ArrayDeque<String>();
      for (var step = this; step != null && steps.size() < 8; step = step.from) {
        if (!step.by.isEmpty()) {
          steps.addFirst(step.by);
        }
      }
      return String.join(" > ", steps);
    }
  }

  /** What is read of a class, found once. */
  private record Shape(List<Part> parts, List<Count> counts, boolean isUnreachable) {}

  private record Part(Field field, String name, @Nullable Rule rule) {}

  private record Count(Method method, String name, Rule rule) {}

  private static final Map<Class<?>, Shape> SHAPES = new ConcurrentHashMap<>();

  private final IdentityHashMap<Object, Boolean> seen = new IdentityHashMap<>();
  private final ArrayDeque<Reached> next = new ArrayDeque<>();
  private final Set<String> left = new LinkedHashSet<>();
  final List<VirtualLoop> virtualLoops = new ArrayList<>();
  final List<SteppedLoop> steppedLoops = new ArrayList<>();
  final List<NettyLoop> nettyLoops = new ArrayList<>();

  final List<Object> ofRevisions = new ArrayList<>();
  private final boolean areDeleted;

  private ObjectGraph(boolean areDeleted) {
    this.areDeleted = areDeleted;
  }

  /** @param areDeleted whether nothing of a revision may be left, either */
  static ObjectGraph of(Collection<?> roots, boolean areDeleted) {
    var graph = new ObjectGraph(areDeleted);
    roots.forEach(root -> graph.add(root, null, ""));
    while (!graph.next.isEmpty()) {
      graph.visit(graph.next.poll());
    }
    return graph;
  }

  /** What is left, each with the field that holds it. */
  Set<String> left() {
    return left;
  }

  private void add(@Nullable Object object, @Nullable Reached from, String by) {
    if (object != null && isWalked(object) && seen.put(object, true) == null) {
      next.add(new Reached(object, from, by));
    }
  }

  private static boolean isOurs(Class<?> type) {
    return type.getName().startsWith(AtRest.ROOT);
  }

  private static boolean isWalked(Object object) {
    return isOurs(object.getClass()) && !(object instanceof Enum) || object instanceof Collection
        || object instanceof Map || object instanceof Object[] || object instanceof Optional
        || object instanceof AtomicReference || object instanceof Channel;
  }

  private void visit(Reached reached) {
    switch (reached.object) {
      case Collection<?> all -> addAll(all.toArray(), reached);
      case Map<?, ?> all -> {
        addAll(all.keySet().toArray(), reached);
        addAll(all.values().toArray(), reached);
      }
      case Object[] all -> addAll(all, reached);
      case Optional<?> some -> add(some.orElse(null), reached, "");
      case AtomicReference<?> reference -> add(reference.get(), reached, "");
      case Channel channel -> channel.pipeline().forEach(it -> add(it.getValue(), reached, ""));
      case NettyLoop loop -> {
        nettyLoops.add(loop);
        visitTimers(Timers.of(loop), reached);
      }
      case VirtualLoop loop -> {
        virtualLoops.add(loop);
        visitTimers(loop.tasks(), reached);
      }
      case SteppedLoop loop -> {
        if (!loop.hasEnded()) {
          steppedLoops.add(loop);
          visitTimers(loop.tasks(), reached);
        }
        visitFields(reached);
      }
      default -> {
        if (Deletion.applies(reached.object)) {
          ofRevisions.add(reached.object);
        }
        visitFields(reached);
      }
    }
  }

  private void visitTimers(Collection<?> tasks, Reached from) {
    for (var task : tasks) {
      var owner = Timers.owner(task);
      if (owner != null && AtRest.isInAStage(owner) && isDue(AtRest.TABLE.ofTimer(owner))) {
        left.add("a timer of " + AtRest.name(owner) + " is set");
      }
      add(task, from, "a timer");
    }
  }

  private void addAll(@Nullable Object[] all, Reached from) {
    for (var one : all) {
      add(one, from, "");
    }
  }

  private void visitFields(Reached reached) {
    var object = reached.object;
    var shape = SHAPES.computeIfAbsent(object.getClass(), ObjectGraph::shape);
    if (shape.isUnreachable && reached.isHeldByProduct()) {
      left.add("a " + AtRest.name(object.getClass()) + " is held by " + reached.path());
    }
    try {
      for (var part : shape.parts) {
        var value = part.field.get(object);
        if (isDue(part.rule)) {
          note(part.name, AtRest.remains(value), reached);
        }
        add(value, reached, part.name);
      }
      for (var count : shape.counts) {
        if (isDue(count.rule)) {
          note(count.name, AtRest.remains(count.method.invoke(object)), reached);
        }
      }
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException(e);
    }
  }

  private void note(String what, @Nullable String remains, Reached reached) {
    if (remains != null) {
      left.add(what + ": " + remains
          + (reached.path().isEmpty() ? "" : " (by " + reached.path() + ")"));
    }
  }

  private boolean isDue(@Nullable Rule rule) {
    return rule == Rule.EMPTY || rule == Rule.DELETED && areDeleted;
  }

  private static Shape shape(Class<?> type) {
    var parts = new ArrayList<Part>();
    var counts = new ArrayList<Count>();
    for (Class<?> one = type; one != null && isOurs(one); one = one.getSuperclass()) {
      for (var field : one.getDeclaredFields()) {
        var rule = AtRest.TABLE.of(field);
        if (!Modifier.isStatic(field.getModifiers())
            && (rule != null || leadsOn(field.getType()))) {
          field.setAccessible(true);
          parts.add(new Part(field, AtRest.name(field), rule));
        }
      }
      for (var method : one.getDeclaredMethods()) {
        var name = AtRest.name(one) + "." + method.getName() + "()";
        var rule = AtRest.TABLE.rows.get(name);
        if (rule != null && method.getParameterCount() == 0) {
          method.setAccessible(true);
          counts.add(new Count(method, name, rule));
        }
      }
    }
    return new Shape(parts, counts, AtRest.TABLE.isUnreachable(type));
  }

  private static boolean leadsOn(Class<?> type) {
    return !type.isPrimitive() && !type.isEnum() && type != String.class
        && !Number.class.isAssignableFrom(type);
  }
}
