package dev.activator.testing.quiescence;

import dev.activator.ActivatorApplication;
import dev.activator.loop.ResettableTimer;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The table {@code at-rest.txt}: which fields and methods are empty, which types are unreachable, and
 * which timers may be set when nothing runs.
 */
final class AtRest {
  static final String ROOT = "dev.activator.";
  /** Without settings, start and shutdown, and the cluster for development. */
  private static final Set<String> STAGES = Set.of("autoscaler", "backend", "cluster", "console",
      "http", "lending", "observability", "proxy", "stats", "throttle", "upstream");
  private static final String TIMER = "timer ";
  private static final URL PRODUCT = location(ActivatorApplication.class);
  static final AtRest TABLE = read();

  enum Rule {
    /** When the callers are gone. */
    EMPTY,
    /** When its revision is deleted, too. */
    DELETED,
    KEPT,
    UNREACHABLE
  }

  /** By what each is about: {@code Class.field}, {@code Class.method()}, a class, or a timer's class. */
  final Map<String, Rule> rows = new HashMap<>();

  private static AtRest read() {
    try (var table = AtRest.class.getResourceAsStream("/at-rest.txt")) {
      var made = new AtRest();
      new String(Objects.requireNonNull(table).readAllBytes(), StandardCharsets.UTF_8).lines()
          .map(String::strip).filter(line -> !line.isEmpty() && !line.startsWith("#"))
          .forEach(made::add);
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void add(String line) {
    var columns = line.startsWith(TIMER)
        ? line.substring(TIMER.length()).split(" +", 3)
        : line.split(" +", 3);
    var subject = line.startsWith(TIMER) ? TIMER + columns[0] : columns[0];
    var rule = Rule.valueOf(columns[1].replace(":", "").toUpperCase(java.util.Locale.ROOT));
    if (rule == Rule.KEPT && columns.length < 3) {
      throw new IllegalStateException("at-rest.txt must say why it keeps " + subject);
    }
    if (rows.put(subject, rule) != null) {
      throw new IllegalStateException("at-rest.txt has two rows for " + subject);
    }
  }

  static String name(Class<?> type) {
    return type.getName().replace(ROOT, "");
  }

  static String name(Field field) {
    return name(field.getDeclaringClass()) + "." + field.getName();
  }

  @Nullable Rule of(Field field) {
    return rows.get(name(field));
  }

  boolean isUnreachable(Class<?> type) {
    return rows.get(name(type)) == Rule.UNREACHABLE;
  }

  /** Null if it may be set at any time. */
  @Nullable Rule ofTimer(Class<?> owner) {
    var rule = rows.getOrDefault(TIMER + name(owner), Rule.EMPTY);
    return rule == Rule.KEPT ? null : rule;
  }

  /** Whether the table is about this class. */
  static boolean isInAStage(Class<?> type) {
    return isProduct(type) && STAGES.contains(name(type).split("\\.")[0])
        && !type.getPackageName().endsWith(".decode");
  }

  /** Whether it is the product's code, not a test's. */
  static boolean isProduct(Class<?> type) {
    return PRODUCT.equals(location(type));
  }

  private static @Nullable URL location(Class<?> type) {
    var source = type.getProtectionDomain().getCodeSource();
    return source == null ? null : source.getLocation();
  }

  /** What is left in a value that should be empty; null if nothing is. */
  static @Nullable String remains(@Nullable Object value) {
    return switch (value) {
      case null -> null;
      case Number number -> number.longValue() == 0 ? null : number.toString();
      case Boolean flag -> flag ? "true" : null;
      case ByteBuf buffer -> buffer.refCnt() == 0 || buffer.capacity() == 0
          ? null
          : buffer.readableBytes() + " bytes";
      case AtomicBoolean flag -> flag.get() ? "true" : null;
      case AtomicReference<?> reference -> remains(reference.get());
      case Collection<?> all -> all.isEmpty()
          ? null
          : all.size() + " entries, one of "
              + name(all.iterator().next().getClass());
      case Map<?, ?> all -> all.isEmpty()
          ? null
          : all.size() + " entries, one of "
              + all.keySet().iterator().next();
      case ResettableTimer timer -> timer.isSet() && !Timers.hasEnded(timer) ? "set" : null;
      default -> value.getClass().isArray() && Array.getLength(value) == 0
          ? null
          : "a " + name(value.getClass());
    };
  }
}
