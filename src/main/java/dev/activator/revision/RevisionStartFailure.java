package dev.activator.revision;

/**
 * Why a revision's containers do not start: from its condition {@code ContainerHealthy} or {@code ResourcesAvailable}.
 *
 * @param reason one word, such as {@code ExitCode1}
 * @param message may be empty
 * @param since the transition time: tells two failures with the same reason apart
 */
public record RevisionStartFailure(String reason, String message, String since) {}
