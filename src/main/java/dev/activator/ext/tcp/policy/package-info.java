/** The states of a connection, without sockets and clocks. */
@NullMarked
package dev.activator.ext.tcp.policy;

import org.jspecify.annotations.NullMarked;
