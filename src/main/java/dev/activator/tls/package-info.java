/** Certificates, keys and trust bundles, for callers, pods and the metrics port. */
@NullMarked
package dev.activator.tls;

import org.jspecify.annotations.NullMarked;
