import dev.activator.ActivatorApplication;
import dev.activator.config.ActivatorMode;
import dev.activator.config.CommandLine;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringApplication.AbandonedRunException;
import org.springframework.boot.SpringApplicationRunListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.aot.ContextAotProcessor;
import org.springframework.context.support.GenericApplicationContext;

/**
 * Writes down the wiring of one mode, as Spring Boot's own processor does for an application with one
 * configuration and a {@code main} beside it.
 */
class ModeProcessor extends ContextAotProcessor {
  private final ActivatorMode mode;

  private ModeProcessor(ActivatorMode mode, Settings settings) {
    super(ActivatorApplication.configuration(mode), settings);
    this.mode = mode;
  }

  /** @param args a mode, and the folders for sources, resources and classes */
  public static void main(String[] args) {
    var settings = Settings.builder().sourceOutput(Path.of(args[1])).resourceOutput(Path.of(args[2]))
        .classOutput(Path.of(args[3])).groupId("dev.activator").artifactId("activator").build();
    new ModeProcessor(ActivatorMode.valueOf(args[0]), settings).process();
    System.exit(0);
  }

  /** Starts the mode, and stops when its beans are defined: none is created. */
  @Override
  protected GenericApplicationContext prepareApplicationContext(Class<?> configuration) {
    var command = new CommandLine(List.of("--spring.main.log-startup-info=false"), false);
    try {
      SpringApplication.withHook(_ -> new SpringApplicationRunListener() {
        @Override
        public void contextLoaded(ConfigurableApplicationContext context) {
          throw new AbandonedRunException(context);
        }
      }, () -> ActivatorApplication.run(command, mode, configuration));
    } catch (AbandonedRunException e) {
      return (GenericApplicationContext) Objects.requireNonNull(e.getApplicationContext());
    }
    throw new IllegalStateException("the mode ended before its beans were defined");
  }
}
