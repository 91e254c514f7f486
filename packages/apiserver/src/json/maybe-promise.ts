/** A value that is available at once, or later when it needs a call to another process. */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with a value: in the same turn when it is there. */
export function andThen<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}
