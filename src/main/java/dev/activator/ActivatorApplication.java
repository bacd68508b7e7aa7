package dev.activator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringApplication.AbandonedRunException;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** Starts the activator; a start that fails ends the process with exit code 1. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class ActivatorApplication {
  private static final String KUBECONFIG = "--kubeconfig";

  public static void main(String[] args) {
    try {
      run(args);
    } catch (AbandonedRunException ahead) {
      throw ahead;
    } catch (RuntimeException failure) {
      // Boot has said what is wrong; only the choice of the mode comes before it.
      if (failure instanceof IllegalArgumentException) {
        LoggerFactory.getLogger(ActivatorApplication.class).error("{}", failure.getMessage());
      }
      System.exit(1);
    }
  }

  private static void run(String[] args) {
    var arguments = longOptions(args);
    var application = new SpringApplication(ActivatorApplication.class);
    application.setAdditionalProfiles(Mode.of(environment(arguments)).profile());
    application.run(arguments.toArray(String[]::new));
  }

  /** The environment, with {@code --kubeconfig=FILE} in the place of the variable. */
  private static Map<String, String> environment(List<String> arguments) {
    var environment = new HashMap<>(System.getenv());
    for (String argument : arguments) {
      if (argument.startsWith(KUBECONFIG + "=")) {
        environment.put("KUBECONFIG", argument.substring(KUBECONFIG.length() + 1));
      }
    }
    return environment;
  }

  /** {@code -kubeconfig FILE} and {@code --kubeconfig FILE}, as Go's flags allow, with an equals. */
  static List<String> longOptions(String[] args) {
    var options = new ArrayList<String>();
    for (int i = 0; i < args.length; i++) {
      String option = args[i].startsWith("-kubeconfig") ? "-" + args[i] : args[i];
      if (option.equals(KUBECONFIG) && i + 1 < args.length) {
        option += "=" + args[++i];
      }
      options.add(option);
    }
    return options;
  }
}
