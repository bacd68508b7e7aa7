/**
 * What is held of requests in memory: bodies that wait, what was sent and may have to be sent again,
 * and what all of it takes.
 */
@NullMarked
package dev.activator.proxy.held;

import org.jspecify.annotations.NullMarked;
