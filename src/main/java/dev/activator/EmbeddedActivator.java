package dev.activator;

import dev.activator.app.ActivatorParts;
import dev.activator.app.CommandLine;
import dev.activator.app.EmbeddedConfiguration;
import dev.activator.app.Mode;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Import;

/** The activator with a platform in its own process. */
@SpringBootConfiguration
@ActivatorParts
@Import(EmbeddedConfiguration.class)
public class EmbeddedActivator {
  /** What the build asks which beans there are; people start {@link ActivatorApplication}. */
  public static void main(String[] args) {
    ActivatorApplication.run(CommandLine.parse(args), Mode.EMBEDDED);
  }
}
