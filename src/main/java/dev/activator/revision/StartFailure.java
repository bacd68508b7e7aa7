package dev.activator.revision;

/**
 * Why a revision's containers do not start: its condition {@code ContainerHealthy} or {@code
 * ResourcesAvailable} is {@code False}.
 *
 * @param reason one word, such as {@code ExitCode1}
 * @param message may be empty
 * @param since the condition's transition time, which tells two failures with the same reason apart
 */
public record StartFailure(String reason, String message, String since) {}
