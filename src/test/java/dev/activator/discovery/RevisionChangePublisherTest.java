package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RevisionChangePublisherTest {
  private static final RevisionId A = new RevisionId("ns", "a");

  private final List<String> received = new ArrayList<>();
  private final RevisionChangePublisher<String> values = new RevisionChangePublisher<>("value");

  RevisionChangePublisherTest() {
    values.changes().subscribe("test", _ -> {
      throw new IllegalStateException("a bug, in a test");
    });
    values.changes().subscribe("test", received::add);
    values.ends().subscribe("test", last -> received.add("no " + last));
  }

  @Test
  void holdsBackWhatHasNotChanged() {
    values.changed(A, "one");
    values.changed(A, "one");
    values.changed(A, "two");

    assertThat(received).containsExactly("one", "two");
    assertThat(values.find(A)).isEqualTo("two");
  }

  @Test
  void repeatsWhatHasNotChanged_inAResync() {
    values.changed(A, "one");
    values.again(A, "one");

    assertThat(received).containsExactly("one", "one");
  }

  @Test
  void saysOnceThatAValueIsGone_andKnowsItNoMore() {
    values.gone(A);
    values.changed(A, "one");
    values.gone(A);
    values.gone(A);
    values.changed(A, "one");

    assertThat(received).containsExactly("one", "no one", "one");
  }
}
