/** Affinity: requests with the same key, such as a session, go to the same pod. */
@NullMarked
package dev.activator.ext.affinity;

import org.jspecify.annotations.NullMarked;
