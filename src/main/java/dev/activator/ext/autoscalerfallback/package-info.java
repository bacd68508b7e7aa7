/** Starts the first pod of a revision while Knative's autoscaler cannot be reached. */
@NullMarked
package dev.activator.ext.autoscalerfallback;

import org.jspecify.annotations.NullMarked;
