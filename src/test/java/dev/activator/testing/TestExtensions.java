package dev.activator.testing;

import dev.activator.ext.lending.LendingInTests;
import dev.activator.ext.rules.RulesInTests;
import dev.activator.ext.waitingpage.WaitingPagesInTests;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The extensions that are attached in tests of the request path, so that these run as the product does. As in
 * {@code app.Extensions}, to delete one is to delete its line; no other test of the kernel names an extension.
 */
public final class TestExtensions {
  private static final List<TestExtension> ALL = all();

  private TestExtensions() {}

  private static List<TestExtension> all() {
    var all = new ArrayList<TestExtension>();
    all.add(new LendingInTests());
    all.add(new WaitingPagesInTests());
    all.add(new RulesInTests());
    return List.copyOf(all);
  }

  /** What each of them attaches to one seam. */
  public static <T> List<T> each(Function<TestExtension, T> seam) {
    return ALL.stream().map(seam).toList();
  }

  /** What one of them attaches to a seam that takes one. */
  public static <T> T one(T none, Function<TestExtension, T> seam) {
    return ALL.stream().map(seam).filter(attached -> attached != none).findFirst().orElse(none);
  }
}
