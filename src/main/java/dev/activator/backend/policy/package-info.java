/** What a watcher does next, as functions of values: without threads, sockets or a clock. */
@NullMarked
package dev.activator.backend.policy;

import org.jspecify.annotations.NullMarked;
