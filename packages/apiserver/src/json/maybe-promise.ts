/** A value that is there at once, or later when somebody outside has to be asked. */
export type Maybe<T> = T | Promise<T>;

/** Goes on with a value: in the same turn when it is there. */
export function andThen<T, U>(value: Maybe<T>, use: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}
