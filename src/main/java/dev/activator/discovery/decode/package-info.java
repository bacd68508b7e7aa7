/** Readers of the kinds of objects that describe a Knative revision. */
@NullMarked
package dev.activator.discovery.decode;

import org.jspecify.annotations.NullMarked;
