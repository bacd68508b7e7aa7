/**
 * A part of Go's template language. Knative's ConfigMaps use it to define the format of the
 * request log.
 */
@NullMarked
package dev.activator.template;

import org.jspecify.annotations.NullMarked;
