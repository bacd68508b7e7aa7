/** The decisions which activator owns a pod and which request is next, as pure functions. */
@NullMarked
package dev.activator.ext.lending.policy;

import org.jspecify.annotations.NullMarked;
