/** The links between activators: one authenticated connection between each two of them. */
@NullMarked
package dev.activator.ext.lending.link;

import org.jspecify.annotations.NullMarked;
