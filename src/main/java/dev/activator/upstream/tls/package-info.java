/**
 * Whom of the pods to believe over TLS: who vouches for them, and for which namespace.
 */
@NullMarked
package dev.activator.upstream.tls;

import org.jspecify.annotations.NullMarked;
