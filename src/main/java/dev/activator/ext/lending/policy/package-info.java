/** Pure functions that decide which activator owns a pod, and which request is next. */
@NullMarked
package dev.activator.ext.lending.policy;

import org.jspecify.annotations.NullMarked;
