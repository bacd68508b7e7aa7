package dev.activator.config;

/** Which requests are answered with a waiting page while their revision starts. */
public enum WaitingPageMode {
  /** Navigations of browsers. */
  AUTO,
  OFF
}
