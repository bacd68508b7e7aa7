/** What is held of requests in memory, and how much of it may be. */
@NullMarked
package dev.activator.proxy.buffer;

import org.jspecify.annotations.NullMarked;
