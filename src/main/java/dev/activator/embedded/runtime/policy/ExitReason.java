package dev.activator.embedded.runtime.policy;

/**
 * The reason why a process ended, or could not be started.
 *
 * @param reason one word for the revision's status, such as {@code ExitCode1}
 * @param message a text for people
 * @param statusMessage the message of the container's status, which stands beside the exit code: the last words of a
 *     program that ended by itself
 * @param code the exit code; negative if the process never ran
 */
public record ExitReason(String reason, String message, String statusMessage, int code) {
  public static final String CONFIG_ERROR = "CreateContainerConfigError";
  private static final int NEVER_RAN = -1;

  /** @param errorLine the line of its output that contains the error; may be empty */
  public static ExitReason code(String workload, int code, String errorLine) {
    String said = errorLine.isEmpty() ? "" : ": " + errorLine;
    return new ExitReason("ExitCode" + code,
        "process of " + workload + " ended with exit code " + code + said, errorLine, code);
  }

  public static ExitReason cannotRun(String workload, String why) {
    var message = "process of " + workload + " cannot run: " + why;
    return new ExitReason("CannotRun", message, message, NEVER_RAN);
  }

  /**
   * The reason why a program cannot be started, in the words of a manifest.
   *
   * @param missingFolder the folder in which it should run, if that does not exist; else empty
   * @param error the error message of Java
   */
  public static String sentence(String program, String missingFolder, String error) {
    if (!missingFolder.isEmpty()) {
      return "there is no folder \"" + missingFolder + "\" to run it in";
    }
    if (error.contains("(No such file or directory)")) {
      return "there is no program \"" + program + "\"" + (program.contains(" ")
          ? "; a command is a list with an entry for each word"
          : program.contains("/") ? "" : " in PATH");
    }
    return error.contains("(Permission denied)")
        ? "\"" + program + "\" is not a program that may be executed"
        : error.strip();
  }

  public static ExitReason configError(String why) {
    return new ExitReason(CONFIG_ERROR, why, why, NEVER_RAN);
  }

  /** The reason for an exit that was caused by a probe that failed too often. */
  public ExitReason unhealthy(String why) {
    return new ExitReason("Unhealthy", why, why, code);
  }

  public boolean ran() {
    return code >= 0;
  }
}
