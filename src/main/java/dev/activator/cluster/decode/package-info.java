/** Decodes Kubernetes objects into our records, reading only the fields we need. */
@NullMarked
package dev.activator.cluster.decode;

import org.jspecify.annotations.NullMarked;
