/** One authenticated connection between each two activators. */
@NullMarked
package dev.activator.lending.link;

import org.jspecify.annotations.NullMarked;
