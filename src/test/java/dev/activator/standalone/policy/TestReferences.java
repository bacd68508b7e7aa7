package dev.activator.standalone.policy;

import dev.activator.kube.policy.IpFamily;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.policy.ResolvedScaledService.References;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.testing.TestValues;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a ScaledService refers to: nothing that is not set here exists. */
public final class TestReferences {
  private @Nullable KubernetesService service;
  private Collection<ServiceEndpointSlice> slices = List.of();
  private WorkloadState workload = new WorkloadState.Missing();
  private List<ScaledServiceRouteTable.Taken> taken = List.of();
  private @Nullable ScaledService older;
  private List<HpaSpec> hpas = List.of();
  private Collection<RevisionId> unknown = List.of();
  private Duration maxTimeout = TestValues.MAX_TIMEOUT;
  private @Nullable CaBundle authorities;
  private @Nullable IdleState woken;

  public static TestReferences to(@Nullable KubernetesService service) {
    var references = new TestReferences();
    references.service = service;
    return references;
  }

  public TestReferences slices(Collection<ServiceEndpointSlice> all) {
    slices = all;
    return this;
  }

  public TestReferences workload(WorkloadState found) {
    workload = found;
    return this;
  }

  public TestReferences taken(List<ScaledServiceRouteTable.Taken> all) {
    taken = all;
    return this;
  }

  public TestReferences older(@Nullable ScaledService other) {
    older = other;
    return this;
  }

  public TestReferences hpas(List<HpaSpec> all) {
    hpas = all;
    return this;
  }

  public TestReferences unknown(Collection<RevisionId> all) {
    unknown = all;
    return this;
  }

  public TestReferences maxTimeout(Duration length) {
    maxTimeout = length;
    return this;
  }

  public TestReferences authorities(@Nullable CaBundle bundle) {
    authorities = bundle;
    return this;
  }

  public TestReferences woken(@Nullable IdleState state) {
    woken = state;
    return this;
  }

  public References found() {
    return new References(service, slices, workload, taken, older, false, hpas, unknown,
        IpFamily.IPV4, maxTimeout, authorities, woken);
  }
}
