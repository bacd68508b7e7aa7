package dev.activator.testing.quiescence;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.ThreadLoop;
import dev.activator.testing.SteppedLoop;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** What is scheduled on a loop, and whose it is. */
final class Timers {
  private static final Field SCHEDULED = field(AbstractScheduledEventExecutor.class,
      "scheduledTaskQueue");
  private static final Field TASK = field("io.netty.util.concurrent.PromiseTask", "task");
  private static final Field GUARDED = field("dev.activator.loop.ExecutorLoop$Guarded", "task");
  private static final Field TIMER_TASK = field(ResettableTimer.class, "task");
  private static final Field TIMER_LOOP = field(ResettableTimer.class, "loop");
  private static final Field THREAD = field(ThreadLoop.class, "executor");
  private static final long PATIENCE_SECONDS = 120;

  private Timers() {}

  /** Waits for the loop's turn; empty if it has ended. */
  static List<Object> of(NettyLoop loop) {
    var events = loop.eventLoop();
    if (events.isShuttingDown() || !(events instanceof SingleThreadEventExecutor)) {
      return List.of();
    }
    try {
      return events.submit(() -> scheduled(events)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (RejectedExecutionException e) {
      return List.of();
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new IllegalStateException("a loop does not answer", e);
    }
  }

  private static List<Object> scheduled(Object events) throws IllegalAccessException {
    var tasks = new ArrayList<Object>();
    if (SCHEDULED.get(events) instanceof Collection<?> queue) {
      for (var one : queue) {
        if (one instanceof Future<?> future && !future.isDone()) {
          var task = TASK.get(future);
          if (task != null) {
            tasks.add(task);
          }
        }
      }
    }
    return tasks;
  }

  /** Whether its loop takes no more tasks. */
  static boolean hasEnded(ResettableTimer timer) {
    try {
      return switch (TIMER_LOOP.get(timer)) {
        case NettyLoop loop -> loop.eventLoop().isShuttingDown();
        case SteppedLoop loop -> loop.hasEnded();
        case ThreadLoop loop -> ((ExecutorService) THREAD.get(loop)).isShutdown();
        default -> false;
      };
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The class whose code runs; null for a task that has no name. */
  static @Nullable Class<?> owner(Object task) {
    try {
      if (GUARDED.getDeclaringClass().isInstance(task)) {
        return owner(GUARDED.get(task));
      }
      var host = host(task.getClass());
      if (host != ResettableTimer.class) {
        return host;
      }
      for (var captured : task.getClass().getDeclaredFields()) {
        captured.setAccessible(true);
        if (captured.get(task) instanceof ResettableTimer timer) {
          return owner(TIMER_TASK.get(timer));
        }
      }
      return host;
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The class in which a lambda is written; the class itself of anything else. */
  private static @Nullable Class<?> host(Class<?> type) {
    return type.isHidden() ? named(type) : type;
  }

  private static @Nullable Class<?> named(Class<?> lambda) {
    int end = lambda.getName().indexOf("$$Lambda");
    try {
      return end < 0
          ? null
          : Class.forName(lambda.getName().substring(0, end), false, lambda.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Field field(String type, String name) {
    try {
      return field(Class.forName(type), name);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Field field(Class<?> type, String name) {
    try {
      var field = type.getDeclaredField(name);
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException(e);
    }
  }
}
