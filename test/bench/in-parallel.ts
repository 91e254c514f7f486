/** Does the work for every item, for at most `atOnce` of them at the same time. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  atOnce = 16,
): Promise<void> {
  // All of them take from the same iterator.
  const left = items.values();
  const one = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
