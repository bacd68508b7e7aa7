/** Certificates, keys and trust bundles, for callers, pods and the port for metrics. */
@NullMarked
package dev.activator.tls;

import org.jspecify.annotations.NullMarked;
