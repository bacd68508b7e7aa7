/** The decisions about pods that start: whether one still may, and what an Event says about its node. */
@NullMarked
package dev.activator.ext.podstarts.policy;

import org.jspecify.annotations.NullMarked;
