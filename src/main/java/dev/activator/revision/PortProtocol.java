package dev.activator.revision;

/**
 * The protocol of a revision's port. It decides which port of the pods is used and, for pods
 * without queue-proxy, how requests are forwarded.
 */
public enum PortProtocol {
  HTTP1("http"),
  H2C("http2"),
  /** TLS, over which each pod chooses the version of HTTP by ALPN. */
  NEGOTIATED("https"),
  /** Bytes that are not HTTP, as far as the activator is concerned. No request gets there. */
  TCP("tcp");

  private final String portName;

  PortProtocol(String portName) {
    this.portName = portName;
  }

  /** The name of the port in Endpoints and Services. */
  public String portName() {
    return portName;
  }
}
