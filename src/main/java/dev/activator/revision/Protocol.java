package dev.activator.revision;

/**
 * What a revision's container speaks. Decides which port's pods count, not how a request is
 * forwarded.
 */
public enum Protocol {
  HTTP1("http"), H2C("http2");

  private final String portName;

  Protocol(String portName) {
    this.portName = portName;
  }

  /** The port's name in Endpoints and Services. */
  public String portName() {
    return portName;
  }
}
