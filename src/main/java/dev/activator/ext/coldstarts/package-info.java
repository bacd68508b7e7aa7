/** Records of starts from zero: how long each phase took. */
@NullMarked
package dev.activator.ext.coldstarts;

import org.jspecify.annotations.NullMarked;
