package dev.activator.proxy.hostile;

import dev.activator.proxy.hostile.Sequence.Plan;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/** Leaves out of a sequence that fails what it fails without. */
final class Shrinker {
  private static final int MAX_ROUNDS = 10;

  private Shrinker() {}

  static Sequence shrink(Sequence failing, Predicate<Sequence> fails) {
    var smallest = failing;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      var before = smallest;
      var next = simpler(before).stream().filter(fails).findFirst();
      while (next.isPresent()) {
        smallest = next.get();
        next = simpler(smallest).stream().filter(fails).findFirst();
      }
      if (smallest.equals(before)) {
        return smallest;
      }
    }
    return smallest;
  }

  /** Each differs in one thing. */
  private static List<Sequence> simpler(Sequence from) {
    var all = new ArrayList<Sequence>();
    for (int i = 0; i < from.plans().size(); i++) {
      var fewer = new ArrayList<>(from.plans());
      fewer.remove(i);
      addWith(from, "plans", fewer, all);
    }
    for (int i = 0; i < from.plans().size(); i++) {
      var plan = from.plans().get(i);
      var plans = new ArrayList<Plan>();
      variants(plan.caller()).forEach(caller -> plans.add(new Plan(caller, plan.first())));
      variants(plan.first()).forEach(pod -> plans.add(new Plan(plan.caller(), pod)));
      for (var other : plans) {
        var changed = new ArrayList<>(from.plans());
        changed.set(i, other);
        addWith(from, "plans", changed, all);
      }
    }
    all.addAll(variants(from));
    return all;
  }

  /** The record with one simple component made simpler. */
  private static <R extends Record> List<R> variants(R from) {
    var all = new ArrayList<R>();
    for (var component : from.getClass().getRecordComponents()) {
      Object now = value(component, from);
      Object simple = switch (now) {
        case Boolean _ -> component.getName().equals("completes")
            || component.getName().equals("takes") || component.getName().equals("podGrants");
        case Integer number when component.getName().contains("Bytes") -> Math.min(number, 1);
        case Integer _ when component.getName().equals("status") -> 200;
        case Integer number -> number / 2;
        case Enum<?> one when !component.getName().equals("version") ->
          one.getDeclaringClass().getEnumConstants()[0];
        case List<?> list when !component.getName().equals("plans") && !list.isEmpty() ->
          list.subList(1, list.size());
        default -> now;
      };
      if (!simple.equals(now)) {
        addWith(from, component.getName(), simple, all);
      }
    }
    return all;
  }

  @SuppressWarnings("unchecked")
  private static <R extends Record> void addWith(R from, String name, Object value, List<R> to) {
    var components = from.getClass().getRecordComponents();
    var arguments = Arrays.stream(components)
        .map(one -> one.getName().equals(name) ? value : value(one, from)).toArray();
    try {
      var types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      Constructor<?> constructor = from.getClass().getDeclaredConstructor(types);
      to.add((R) constructor.newInstance(arguments));
    } catch (InvocationTargetException e) {
      if (!(e.getCause() instanceof IllegalArgumentException)) {
        throw new AssertionError(e);
      }
      // There is no such sequence.
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static Object value(RecordComponent component, Record of) {
    try {
      return component.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}
