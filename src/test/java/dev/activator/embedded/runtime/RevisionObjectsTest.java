package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RevisionObjectsTest {
  @Test
  void numberRevisionsWithFiveDigits() {
    assertThat(RevisionObjects.revisionName("hello", 7)).isEqualTo("hello-00007");
  }

  @Test
  void haveNamesThatFitALabelHoweverLongTheServiceIs() {
    var revision = RevisionObjects.revisionName("s".repeat(63), 1);

    assertThat(RevisionObjects.deploymentName(revision)).hasSize(63).endsWith("-deployment");
  }
}
