package dev.activator.embedded.runtime.policy;

/** @param reason one word for the revision's status, such as {@code ExitCode1} */
public record Exit(String reason, String message) {
  public static Exit code(String revision, int code, String lastLine) {
    String said = lastLine.isEmpty() ? "" : ": " + lastLine;
    return new Exit("ExitCode" + code,
        "process of " + revision + " ended with exit code " + code + said);
  }

  public static Exit cannotRun(String revision, String why) {
    return new Exit("CannotRun", "process of " + revision + " cannot run: " + why);
  }
}
