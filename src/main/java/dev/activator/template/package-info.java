/** The syntax of Go's templates, by which those in Knative's ConfigMaps are checked. */
@NullMarked
package dev.activator.template;

import org.jspecify.annotations.NullMarked;
