/** The written pages, held to what can be checked of them. Whether they are true, readers must say. */
@NullMarked
package dev.activator.docs;

import org.jspecify.annotations.NullMarked;
