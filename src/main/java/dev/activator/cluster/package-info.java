/**
 * Turns the Kubernetes API's objects into our records. The only package that uses the client
 * library.
 */
@NullMarked
package dev.activator.cluster;

import org.jspecify.annotations.NullMarked;
