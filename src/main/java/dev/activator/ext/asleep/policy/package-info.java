/** What puts pods to sleep, as values. */
@NullMarked
package dev.activator.ext.asleep.policy;

import org.jspecify.annotations.NullMarked;
