package dev.activator.ext.picker;

import java.nio.file.Path;

/** How the picker's port is secured. */
sealed interface PickerTls {
  /** Not at all. */
  record Off() implements PickerTls {}

  /** By TLS with a self-signed certificate, which gateways do not verify. */
  record SelfSigned() implements PickerTls {}

  /** By TLS with the certificate in these PEM files. */
  record Files(Path certificate, Path key) implements PickerTls {}
}
