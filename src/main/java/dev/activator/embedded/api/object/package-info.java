/**
 * What every part of the API speaks of: objects and their fields, their kinds, what happens to them, and
 * how a request is refused.
 */
@NullMarked
package dev.activator.embedded.api.object;

import org.jspecify.annotations.NullMarked;
