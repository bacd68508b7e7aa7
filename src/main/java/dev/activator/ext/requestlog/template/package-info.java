/** The part of Go's template language in which Knative's ConfigMap defines the request log. */
@NullMarked
package dev.activator.ext.requestlog.template;

import org.jspecify.annotations.NullMarked;
