package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.ServicePlan.Known;
import dev.activator.embedded.runtime.policy.ServicePlan.NewRevision;
import dev.activator.embedded.runtime.policy.ServicePlan.Wanted;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServicePlanTest {
  @Test
  void aNewServiceGetsItsFirstRevision() {
    assertThat(ServicePlan.of(new Wanted("hello", "a", ""), List.of())).isEqualTo(
        new ServicePlan(new NewRevision("hello-00001", 1), "hello-00001", List.of(), ""));
  }

  @Test
  void theSameTemplateKeepsItsRevision() {
    assertThat(ServicePlan.of(new Wanted("hello", "a", ""),
        List.of(new Known("hello-00001", 1, "a"))))
        .isEqualTo(new ServicePlan(null, "hello-00001", List.of(), ""));
  }

  @Test
  void anotherTemplateIsTheNextRevisionEvenIfItWasThereBefore() {
    var revisions = List.of(new Known("hello-00002", 2, "b"), new Known("hello-00001", 1, "a"));

    assertThat(ServicePlan.of(new Wanted("hello", "a", ""), revisions)).isEqualTo(
        new ServicePlan(new NewRevision("hello-00003", 3), "hello-00003", List.of(), ""));
  }

  @Test
  void threeRevisionsStay() {
    var revisions = List.of(new Known("hello-00002", 2, "b"), new Known("hello-00003", 3, "c"),
        new Known("hello-00004", 4, "d"));

    assertThat(ServicePlan.of(new Wanted("hello", "e", ""), revisions)).isEqualTo(new ServicePlan(
        new NewRevision("hello-00005", 5), "hello-00005", List.of("hello-00002"), ""));
  }

  @Test
  void aTemplateMayNameItsRevision() {
    assertThat(ServicePlan.of(new Wanted("hello", "b", "hello-blue"),
        List.of(new Known("hello-00001", 1, "a"))))
        .isEqualTo(new ServicePlan(new NewRevision("hello-blue", 2), "hello-blue", List.of(), ""));
  }

  @Test
  void aNameThatIsTakenByAnotherTemplateIsAProblem() {
    var plan = ServicePlan.of(new Wanted("hello", "b", "hello-blue"),
        List.of(new Known("hello-blue", 1, "a")));

    assertThat(plan.create()).isNull();
    assertThat(plan.latest()).isEqualTo("hello-blue");
    assertThat(plan.problem()).contains("hello-blue", "spec.template.metadata.name");
  }
}
