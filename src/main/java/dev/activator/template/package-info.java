/** The parser of Go's templates, which checks those in Knative's ConfigMaps. */
@NullMarked
package dev.activator.template;

import org.jspecify.annotations.NullMarked;
