/** Mulberry32: whole numbers of 32 bits, the same for the same seed. */
export function seededIntegers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Numbers from 0 up to, but not, 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  const next = seededIntegers(seed);
  return () => next() / 2 ** 32;
}

/** UUIDs that are the same for the same seed. */
export function seededIds(seed: number): () => string {
  const next = seededIntegers(seed);
  const words = () => next().toString(16).padStart(8, "0");
  return () => {
    const text = words() + words() + words() + words();
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20)}`;
  };
}
