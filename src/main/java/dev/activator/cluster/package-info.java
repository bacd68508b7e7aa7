/**
 * Reads and writes objects of the Kubernetes API, and converts them into the activator's records.
 * No other package uses the client library.
 */
@NullMarked
package dev.activator.cluster;

import org.jspecify.annotations.NullMarked;
