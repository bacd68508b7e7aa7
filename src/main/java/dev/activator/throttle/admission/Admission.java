package dev.activator.throttle.admission;

/** What a request gets that asks to run: a permit at once, or a place in its revision's queue. */
public sealed interface Admission permits Permit, Place {}
