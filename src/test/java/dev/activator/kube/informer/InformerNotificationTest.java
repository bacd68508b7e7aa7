package dev.activator.kube.informer;

import static dev.activator.kube.informer.Seen.again;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Deleted;
import dev.activator.kube.informer.InformerNotification.FinalState;
import dev.activator.kube.informer.InformerNotification.Updated;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class InformerNotificationTest {
  private static final VersionedObject<String> A1 = again("x", 1, 1);
  private static final VersionedObject<String> A2 = again("x", 1, 2);
  private static final VersionedObject<String> A3 = again("x", 1, 3);
  /** Another object, of the same name. */
  private static final VersionedObject<String> B4 = again("x", 2, 4);
  private static final VersionedObject<String> B5 = again("x", 2, 5);

  /** Two changes in a row, and what is told to one who has heard of neither. */
  record Case(String name, InformerNotification<String> first, InformerNotification<String> next,
      @Nullable InformerNotification<String> both) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> table() {
    return Stream.of(
        new Case("add, update: add of the newest", added(A1), updated(A1, A2),
            added(A2)),
        new Case("add, delete: nothing", added(A1), deleted(A1, A2), null),
        new Case("update, update: from the oldest to the newest", updated(A1, A2), updated(A2, A3),
            updated(A1, A3)),
        new Case("update, delete: delete", updated(A1, A2), deleted(A2, A3), deleted(A1, A3)),
        new Case("delete, add: update from what was told", deleted(A1, A2), added(B4),
            updated(A1, B4)),
        new Case("update, told again: update", updated(A1, A2), updated(A2, A2), updated(A1, A2)),
        new Case("told again, update: update", updated(A1, A1), updated(A1, A2), updated(A1, A2)),
        new Case("told again, told again: once", updated(A1, A1), updated(A1, A1), updated(A1, A1)),
        new Case("add, told again: add", added(A1), updated(A1, A1),
            added(A1)),
        new Case("another object, delete: of the one that was told", updated(A1, B4),
            deleted(B4, B5), new Deleted<>(A1, A1, FinalState.UNKNOWN)),
        new Case("another object, update: to the newest of that", updated(A1, B4), updated(B4, B5),
            updated(A1, B5)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("table")
  void reportsTwoChangesAsOne(Case given) {
    assertThat(given.first().then(given.next())).isEqualTo(given.both());
  }

  private static InformerNotification<String> added(VersionedObject<String> now) {
    return new Added<>(now);
  }

  private static InformerNotification<String> updated(VersionedObject<String> before,
      VersionedObject<String> now) {
    return new Updated<>(before, now);
  }

  private static InformerNotification<String> deleted(VersionedObject<String> before,
      VersionedObject<String> last) {
    return new Deleted<>(before, last, FinalState.KNOWN);
  }
}
