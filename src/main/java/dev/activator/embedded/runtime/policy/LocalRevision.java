package dev.activator.embedded.runtime.policy;

import dev.activator.revision.Protocol;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What is needed to run a revision's pods as local processes.
 *
 * @param id which one
 * @param owner the Service and Configuration it belongs to; empty if none
 * @param container what runs
 * @param containerConcurrency requests one pod may run at once; 0 means any number
 * @param requestTimeout how long a request may run, and so how long a pod that stops waits for those
 *     it has
 * @param protocol what the container speaks
 * @param probe how to find out whether it takes requests
 */
public record LocalRevision(RevisionId id, String owner, Container container,
    int containerConcurrency, Duration requestTimeout, Protocol protocol, UserProbe probe) {
  /**
   * A revision's container.
   *
   * @param image matters only where there is no command
   * @param command the program and its first arguments; may be empty
   * @param args the rest
   * @param env what its environment has besides the activator's own
   * @param workingDir empty for the activator's own
   */
  public record Container(String image, List<String> command, List<String> args,
      Map<String, String> env, String workingDir) {
    public Container {
      command = List.copyOf(command);
      args = List.copyOf(args);
      env = Map.copyOf(env);
    }

    /** The whole command, with variables replaced. */
    public List<String> commandLine(Map<String, String> variables) {
      return Expansion.of(Stream.concat(command.stream(), args.stream()).toList(), variables);
    }
  }
}
