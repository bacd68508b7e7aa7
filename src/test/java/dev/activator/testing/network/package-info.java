/** A network in memory with the semantics of TCP, in virtual time: a seed replays exactly. */
package dev.activator.testing.network;
