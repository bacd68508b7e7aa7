/** Readers of the kinds of objects that describe a Knative revision. */
@NullMarked
package dev.activator.knative.decode;

import org.jspecify.annotations.NullMarked;
