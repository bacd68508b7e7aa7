/**
 * What the Kubernetes API says, as our records. The one package that knows the client library, and
 * lets none of its types out.
 */
@NullMarked
package dev.activator.cluster;

import org.jspecify.annotations.NullMarked;
