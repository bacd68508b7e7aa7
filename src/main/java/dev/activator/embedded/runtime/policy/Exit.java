package dev.activator.embedded.runtime.policy;

/**
 * How a process ended.
 *
 * @param reason one word for the revision's status, such as {@code ExitCode1}
 * @param message a sentence for people
 */
public record Exit(String reason, String message) {
  /** It ran, and ended with this code; {@code lastLine} is its last output, or empty. */
  public static Exit code(String revision, int code, String lastLine) {
    String said = lastLine.isEmpty() ? "" : ": " + lastLine;
    return new Exit("ExitCode" + code,
        "process of " + revision + " ended with exit code " + code + said);
  }

  /** It could not be started at all. */
  public static Exit cannotRun(String revision, String why) {
    return new Exit("CannotRun", "process of " + revision + " cannot run: " + why);
  }
}
