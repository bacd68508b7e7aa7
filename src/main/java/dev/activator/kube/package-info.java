/**
 * Reads, watches and writes objects of the Kubernetes API. Knows no kind of object; no other package
 * uses the client library.
 */
@NullMarked
package dev.activator.kube;

import org.jspecify.annotations.NullMarked;
