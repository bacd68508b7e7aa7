/**
 * Turns the Kubernetes API's objects into our records. The only package that uses the client
 * library; none of its types leave it.
 */
@NullMarked
package dev.activator.cluster;

import org.jspecify.annotations.NullMarked;
