/** Why the pods of a revision do not start, and how far they are, while requests wait for them. */
@NullMarked
package dev.activator.ext.podstarts;

import org.jspecify.annotations.NullMarked;
