package dev.activator.revision;

/** The protocol of a revision's port. It decides which port's pods count, not how a request is forwarded. */
public enum PortProtocol {
  HTTP1("http"),
  H2C("http2");

  private final String portName;

  PortProtocol(String portName) {
    this.portName = portName;
  }

  /** In Endpoints and Services. */
  public String portName() {
    return portName;
  }
}
