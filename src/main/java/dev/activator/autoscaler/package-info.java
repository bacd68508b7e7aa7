/** Decides how many pods each revision has; knows nothing of how pods are made. */
@NullMarked
package dev.activator.autoscaler;

import org.jspecify.annotations.NullMarked;
