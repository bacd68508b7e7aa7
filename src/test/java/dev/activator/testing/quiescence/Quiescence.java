package dev.activator.testing.quiescence;

import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Deque;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/**
 * Fails a test that leaves anything behind: when it is over and its callers are gone, all that it
 * started must come to rest, as {@code at-rest.txt} describes it. JUnit applies this to every class.
 *
 * <p>Looks at all that the fields of the test lead to, and at what a test or a fixture has handed to
 * {@link #watch}.
 *
 * <p><b>Threads.</b> Several classes run at once; what is watched belongs to the thread of its test.
 */
public final class Quiescence
    implements
    BeforeAllCallback,
    TestInstancePreConstructCallback,
    BeforeEachCallback,
    AfterEachCallback,
    AfterAllCallback {
  /** In real time; only a failure or a starved machine takes it. */
  private static final Duration PATIENCE = Duration
      .ofSeconds(Long.getLong("quiescence.seconds", 120));
  /** How virtual time passes: what was due, then short times, as a walk costs more than they do. */
  private static final List<Duration> VIRTUAL_STEPS = List.of(Duration.ZERO, Duration.ofSeconds(1),
      Duration.ofSeconds(10), Duration.ofMinutes(2), Duration.ofMinutes(10));

  private enum Part {
    CLASS,
    INSTANCE,
    TEST
  }

  /** What was started in a part of a class's run. */
  private static final class Scope {
    private final Part part;
    private final List<Watched> watched = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();

    private Scope(Part part) {
      this.part = part;
    }
  }

  private record Watched(Object root, Ending ending) {}

  /** Makes the callers of something leave, and deletes its revisions. */
  public interface Ending {
    void run() throws Exception;
  }

  private static final ThreadLocal<Deque<Scope>> SCOPES = ThreadLocal.withInitial(ArrayDeque::new);

  /** Checks what this leads to when the test is over; nothing outside of tests. */
  public static <T> T watch(T root) {
    return watch(root, () -> {
    });
  }

  /** @param ending runs first */
  public static <T> T watch(T root, Ending ending) {
    var scope = SCOPES.get().peek();
    if (scope != null) {
      scope.watched.add(new Watched(root, ending));
    }
    return root;
  }

  /**
   * Checks this now, before its threads end; what is left fails the test when it is over. For the
   * {@code close} of a fixture, when its callers are gone.
   */
  public static void settle(Object root) {
    var scope = SCOPES.get().peek();
    if (scope != null) {
      scope.problems.addAll(remaining(List.of(root), false));
    }
  }

  /** Fails if anything is left after all callers are gone and all revisions were deleted. */
  public static void assertNothingLeft(Object root) {
    fail(remaining(List.of(root), true));
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    SCOPES.get().push(new Scope(Part.CLASS));
  }

  @Override
  public void preConstructTestInstance(TestInstanceFactoryContext factory,
      ExtensionContext context) {
    SCOPES.get().push(new Scope(Part.INSTANCE));
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    SCOPES.get().push(new Scope(Part.TEST));
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    var over = new ArrayList<Scope>();
    while (!SCOPES.get().isEmpty() && SCOPES.get().peek().part != Part.CLASS) {
      over.add(SCOPES.get().pop());
    }
    var roots = new ArrayList<Object>(context.getRequiredTestInstances().getAllInstances());
    check(context, over, roots);
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    var over = new ArrayList<Scope>();
    boolean started = false;
    while (!SCOPES.get().isEmpty() && !started) {
      var last = SCOPES.get().pop();
      over.add(last);
      started = last.part == Part.CLASS;
    }
    check(context, over, List.of());
  }

  private static void check(ExtensionContext context, List<Scope> over, List<Object> instances)
      throws Exception {
    if (context.getExecutionException().isPresent()) {
      // It may have stopped anywhere.
      return;
    }
    var problems = new ArrayList<String>();
    var roots = new ArrayList<>(instances);
    for (var scope : over) {
      problems.addAll(scope.problems);
      for (var one : scope.watched) {
        one.ending.run();
        roots.add(one.root);
      }
    }
    var graph = atRest(roots, false);
    problems.addAll(graph.left());
    // Loops that have ended take no more events.
    if (problems.isEmpty() && !graph.ofRevisions.isEmpty()
        && graph.nettyLoops.stream().noneMatch(loop -> loop.eventLoop().isShuttingDown())) {
      try {
        graph.ofRevisions.forEach(Deletion::deleteRevisions);
        snapshot(roots, true).virtualLoops.forEach(VirtualLoop::run);
        // Again, as the end of a revision's pods makes a throttler that still finds the revision.
        graph.ofRevisions.forEach(Deletion::deleteRevisions);
        problems.addAll(remaining(roots, true));
      } catch (RejectedExecutionException e) {
        // The test has ended a thread of the stage.
        problems.clear();
      }
    }
    fail(problems);
  }

  private static void fail(Collection<String> problems) {
    if (!problems.isEmpty()) {
      throw new AssertionError("the test is over, and this is left:\n  "
          + problems.stream().distinct().collect(Collectors.joining("\n  ")));
    }
  }

  /** Lets time go by until nothing is left, or it has been long enough. */
  static Set<String> remaining(Collection<?> roots, boolean areDeleted) {
    return atRest(roots, areDeleted).left();
  }

  private static ObjectGraph atRest(Collection<?> roots, boolean areDeleted) {
    long begun = System.nanoTime();
    var steps = VIRTUAL_STEPS.iterator();
    var graph = snapshot(roots, areDeleted);
    while (!graph.left().isEmpty() && System.nanoTime() - begun < PATIENCE.toNanos()) {
      boolean isVirtual = !graph.virtualLoops.isEmpty() || !graph.steppedLoops.isEmpty();
      if (isVirtual && steps.hasNext()) {
        var step = steps.next();
        graph.virtualLoops.forEach(loop -> loop.advance(step));
        graph.steppedLoops.forEach(loop -> loop.advance(step));
      } else if (isVirtual && graph.nettyLoops.isEmpty()) {
        return graph;
      } else {
        pause();
      }
      graph = snapshot(roots, areDeleted);
    }
    return graph;
  }

  /** Loops that run meanwhile may change a collection that is read. */
  private static ObjectGraph snapshot(Collection<?> roots, boolean areDeleted) {
    while (true) {
      try {
        return ObjectGraph.of(roots, areDeleted);
      } catch (ConcurrentModificationException | IndexOutOfBoundsException
          | NoSuchElementException e) {
        pause();
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(5);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
