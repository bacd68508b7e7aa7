package dev.activator.waking;

import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import dev.activator.waking.policy.CallChainTable;
import dev.activator.waking.policy.CallChainTable.Prediction;
import dev.activator.waking.policy.CallChainTable.StartTime;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What learned chains cost, with a table of 1,000 edges: 100 callers of ten callees each, every second one of
 * which starts with its caller.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class CallChainsBenchmark {
  private static final StartTime START = new StartTime(2_000, 3_000);

  private final CallChainTable table = new CallChainTable();
  private final CallingRevisionLookup addresses = new CallingRevisionLookup();
  private final String[] peers = new String[100];
  private RevisionId[] callers;
  private RevisionId[] callees;
  private int next;

  @Setup
  public void learn() {
    callers = ids("caller", 100);
    callees = ids("callee", 1_000);
    for (int i = 0; i < callers.length; i++) {
      peers[i] = "10.1.2." + i;
      addresses.put(callers[i],
          new PodsByReadiness(DestinationSet.of(new Destination(peers[i], 8012)),
              DestinationSet.NONE));
    }
    for (int i = 0; i < 1_000; i++) {
      for (int episode = 0; episode < 30; episode++) {
        if (i % 2 == 1 && episode % 2 == 1) {
          table.missed(callers[i / 10], callees[i]);
        } else {
          table.called(callers[i / 10], callees[i], 100 + i);
        }
      }
    }
  }

  private static RevisionId[] ids(String name, int count) {
    var ids = new RevisionId[count];
    for (int i = 0; i < count; i++) {
      ids[i] = new RevisionId("namespace", name + "-00001-" + i);
    }
    return ids;
  }

  /** What the table does for a request of a revision at zero whose caller is known. */
  @Benchmark
  public void call() {
    next = (next + 1) % 1_000;
    table.called(callers[next / 10], callees[next], 100);
  }

  /** What is looked up to find the caller, while a hundred episodes are open. */
  @Benchmark
  public Collection<RevisionId> caller() {
    next = (next + 1) % 100;
    return addresses.ofAddress(peers[next]);
  }

  /** Once for each start from zero. */
  @Benchmark
  public List<Prediction> start() {
    next = (next + 1) % 100;
    return table.predict(callers[next], _ -> START);
  }
}
