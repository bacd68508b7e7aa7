package dev.activator.revision;

/**
 * The protocol of a revision's port. It decides which port of the pods is used and, for pods
 * without queue-proxy, in which version of HTTP a request is forwarded.
 */
public enum PortProtocol {
  HTTP1("http"),
  H2C("http2"),
  /** TLS, over which each pod chooses the version of HTTP by ALPN. */
  NEGOTIATED("https");

  private final String portName;

  PortProtocol(String portName) {
    this.portName = portName;
  }

  /** The name of the port in Endpoints and Services. */
  public String portName() {
    return portName;
  }
}
