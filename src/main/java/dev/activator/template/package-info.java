/** A part of Go's template language, in which Knative's ConfigMaps say how a request is logged. */
@NullMarked
package dev.activator.template;

import org.jspecify.annotations.NullMarked;
