package dev.activator.observability;

import java.util.List;

/** All series of one meter at one moment. */
record Family(Metric metric, List<? extends Point> points) {}
