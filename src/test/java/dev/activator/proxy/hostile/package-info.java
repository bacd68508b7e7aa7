/**
 * Callers and pods that do what they like within the protocols, generated from seeds, and what each
 * must see of the other.
 */
package dev.activator.proxy.hostile;
