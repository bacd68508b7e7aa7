/**
 * Kubernetes objects as our records: a reader a kind, which takes the few fields that count and says
 * what is wrong with an object it cannot read.
 */
@NullMarked
package dev.activator.cluster.decode;

import org.jspecify.annotations.NullMarked;
