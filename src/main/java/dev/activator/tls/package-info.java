/**
 * Certificates, keys and trust bundles for callers, pods, other activators and the metrics port.
 */
@NullMarked
package dev.activator.tls;

import org.jspecify.annotations.NullMarked;
