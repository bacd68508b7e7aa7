package dev.activator.revision;

/**
 * What a revision's serving container speaks. It decides the name of the port under which pods are
 * listed; it does not decide what a request is forwarded as (that follows the request).
 */
public enum Protocol {
  HTTP1("http"), H2C("http2");

  private final String portName;

  Protocol(String portName) {
    this.portName = portName;
  }

  /** The name of this protocol's port in Endpoints and Services. */
  public String portName() {
    return portName;
  }
}
