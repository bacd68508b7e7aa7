package dev.activator.revision;

/**
 * Why a revision's containers do not start, as its status says: the condition {@code
 * ContainerHealthy} or {@code ResourcesAvailable} is {@code False}.
 *
 * @param reason one word, such as {@code ExitCode1}
 * @param message a sentence; may be empty
 * @param since when the condition became so, as the object says it; two failures with the same
 *     reason differ in this
 */
public record StartFailure(String reason, String message, String since) {}
