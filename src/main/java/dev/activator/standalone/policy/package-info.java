/** Decisions about ScaledServices, as functions of values. */
@NullMarked
package dev.activator.standalone.policy;

import org.jspecify.annotations.NullMarked;
