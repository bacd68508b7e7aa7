package dev.activator.app;

import dev.activator.app.properties.MetricsServerProperties;
import dev.activator.app.properties.TlsProperties;
import dev.activator.app.start.InvalidSettingsException;
import dev.activator.tls.CertificateFiles;
import java.io.IOException;
import org.springframework.beans.factory.BeanFactory;

/**
 * Whether a start could use the files of certificates that the settings name. Nothing is shown to
 * anybody yet.
 */
public final class CertificateCheck {
  private CertificateCheck() {}

  /** @throws InvalidSettingsException naming the files it could not */
  public static void of(BeanFactory settings) {
    var metrics = settings.getBean(MetricsServerProperties.class);
    if (metrics.isEncrypted()) {
      var _ = new MetricsTls(metrics);
    }
    callers(settings.getBean(TlsProperties.class));
  }

  private static void callers(TlsProperties tls) {
    var chain = tls.certificate();
    var key = tls.key();
    if (chain == null || key == null) {
      return;
    }
    try {
      var _ = CertificateFiles.read(chain, key, tls.server());
    } catch (IOException unusable) {
      throw new InvalidSettingsException(String.valueOf(unusable.getMessage()), unusable);
    }
  }
}
