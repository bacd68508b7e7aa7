/** Decodes Kubernetes objects to the activator's records. Only the necessary fields are read. */
@NullMarked
package dev.activator.cluster.decode;

import org.jspecify.annotations.NullMarked;
