/**
 * What the activator shows callers over TLS: certificates and keys from files or a Secret, read again
 * when they change.
 */
@NullMarked
package dev.activator.proxy.tls;

import org.jspecify.annotations.NullMarked;
