package dev.activator.embedded.runtime.policy;

/**
 * Why a process ended, or could not start.
 *
 * @param reason one word for the revision's status, such as {@code ExitCode1}
 * @param message for people
 * @param code how it ended; negative if it never ran
 */
public record ExitReason(String reason, String message, int code) {
  public static final String CONFIG_ERROR = "CreateContainerConfigError";
  private static final int NEVER_RAN = -1;

  /** @param errorLine the line of its output that names the error, or empty */
  public static ExitReason code(String workload, int code, String errorLine) {
    String said = errorLine.isEmpty() ? "" : ": " + errorLine;
    return new ExitReason("ExitCode" + code,
        "process of " + workload + " ended with exit code " + code + said, code);
  }

  public static ExitReason cannotRun(String workload, String why) {
    return new ExitReason("CannotRun", "process of " + workload + " cannot run: " + why, NEVER_RAN);
  }

  /**
   * Why a program does not start, in the words of its Service.
   *
   * @param missingFolder in which it was to run, if that is not there; else empty
   * @param error of the operating system, as Java says it
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
    return new ExitReason(CONFIG_ERROR, why, NEVER_RAN);
  }

  /** It was ended, since a probe failed too often. */
  public ExitReason unhealthy(String why) {
    return new ExitReason("Unhealthy", why, code);
  }

  public boolean ran() {
    return code >= 0;
  }
}
