package dev.activator.throttle;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.random.RandomGenerator;

/**
 * Random numbers for many threads, without a fight over the seed: two threads that draw at the same
 * moment may get the same number, which does not matter where load is spread.
 *
 * <p>
 * <b>Threads.</b> Any.
 *
 * <p>
 * <b>Source.</b> SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
 * Generators", OOPSLA 2014.
 */
public final class SharedRandom implements RandomGenerator {
  private static final long GOLDEN_GAMMA = 0x9e37_79b9_7f4a_7c15L;
  private static final VarHandle SEED;

  static {
    try {
      SEED = MethodHandles.lookup().findVarHandle(SharedRandom.class, "seed", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("UnusedVariable") // read and written through SEED
  private long seed;

  public SharedRandom(long seed) {
    this.seed = seed;
  }

  @Override
  public long nextLong() {
    long next = (long) SEED.getOpaque(this) + GOLDEN_GAMMA;
    SEED.setOpaque(this, next);
    long mixed = (next ^ next >>> 30) * 0xbf58_476d_1ce4_e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d0_49bb_1331_11ebL;
    return mixed ^ mixed >>> 31;
  }
}
