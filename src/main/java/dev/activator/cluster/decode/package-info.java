/** Decodes the fields we need of Kubernetes objects into our records. */
@NullMarked
package dev.activator.cluster.decode;

import org.jspecify.annotations.NullMarked;
