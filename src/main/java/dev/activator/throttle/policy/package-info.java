/** The throttle's decisions as pure functions. */
@NullMarked
package dev.activator.throttle.policy;

import org.jspecify.annotations.NullMarked;
