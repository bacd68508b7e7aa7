/** Decodes Kubernetes objects to the activator's records. Only the necessary fields are read. */
@NullMarked
package dev.activator.kube.decode;

import org.jspecify.annotations.NullMarked;
