package dev.activator.app.properties;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The ports requests come in on. 0 takes a free one, which the log names.
 *
 * @param http1 the port for plain HTTP, 1.1 and 2
 * @param h2c the port for plain HTTP, 1.1 and 2, of callers that expect HTTP/2 there
 * @param https the port for both over TLS, where there is a certificate
 */
@ConfigurationProperties("activator.port")
public record PortProperties(@DefaultValue("8012") int http1, @DefaultValue("8013") int h2c,
    @DefaultValue("8112") int https) {

  public PortProperties {
    Ports.check("activator.port.http1", http1);
    Ports.check("activator.port.h2c", h2c);
    Ports.check("activator.port.https", https);
  }
}
