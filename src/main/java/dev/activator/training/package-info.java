/** Requests and cold starts that the activator sends to itself, so that the first caller meets compiled code. */
@NullMarked
package dev.activator.training;

import org.jspecify.annotations.NullMarked;
