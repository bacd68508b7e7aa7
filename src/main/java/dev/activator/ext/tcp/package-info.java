/** Connections that are not HTTP, to workloads that start when a client connects. */
@NullMarked
package dev.activator.ext.tcp;

import org.jspecify.annotations.NullMarked;
