/** Decisions of the package {@code kube}, as functions of values. */
@NullMarked
package dev.activator.kube.policy;

import org.jspecify.annotations.NullMarked;
