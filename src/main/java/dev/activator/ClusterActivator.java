package dev.activator;

import dev.activator.app.ActivatorParts;
import dev.activator.app.CommandLine;
import dev.activator.app.InClusterConfiguration;
import dev.activator.app.Mode;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Import;

/** The activator in a cluster, or next to one. */
@SpringBootConfiguration
@ActivatorParts
@Import(InClusterConfiguration.class)
public class ClusterActivator {
  /** What the build asks which beans there are; people start {@link ActivatorApplication}. */
  public static void main(String[] args) {
    ActivatorApplication.run(CommandLine.parse(args), Mode.CLUSTER);
  }
}
