package dev.activator.ext.picker;

import dev.activator.config.SettingPreconditions;
import dev.activator.settings.ListeningPort;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the endpoint picker.
 *
 * @param enabled whether the port is open; a client that reaches it can start workloads
 * @param port the port for questions of gateways: which pod a request may run on
 * @param fallbacks how many other pods an answer names after the chosen one, for requests to a
 *     revision without a concurrency limit
 * @param tls whether the port speaks TLS, as gateways with an InferencePool expect
 * @param certificate a PEM file with the port's certificate chain. Read again when it changes.
 *     Without it the certificate is self-signed
 * @param key a PEM file with the private key of the certificate
 * @param service the Service in the activators' namespace that leads to the port, for
 *     InferencePools; if empty, none is read
 */
@ConfigurationProperties("activator.picker")
public record PickerProperties(@DefaultValue("false") boolean enabled,
    @DefaultValue("9002") int port, @DefaultValue("2") int fallbacks,
    @DefaultValue("true") boolean tls, @Nullable Path certificate, @Nullable Path key,
    @DefaultValue("") String service)
    implements ListeningPort.Source {

  public PickerProperties {
    SettingPreconditions.port("activator.picker.port", port);
    SettingPreconditions.check(fallbacks >= 0, "activator.picker.fallbacks", fallbacks,
        "must be at least 0");
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          "activator.picker.certificate and activator.picker.key are of use only together");
    }
    if (!service.isEmpty()) {
      SettingPreconditions.name("activator.picker.service", service, "Service");
    }
  }

  PickerTls security() {
    if (!tls) {
      return new PickerTls.Off();
    }
    return certificate == null || key == null
        ? new PickerTls.SelfSigned()
        : new PickerTls.Files(certificate, key);
  }

  @Override
  public List<ListeningPort> ports(ListeningPort.Others others) {
    return enabled
        ? List.of(new ListeningPort("activator.picker.port", others.requestAddress(), port))
        : List.of();
  }
}
