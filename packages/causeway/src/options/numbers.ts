import { InvalidArgumentError } from "@commander-js/extra-typings";

/** A parser of whole numbers from `minimum` to `maximum`. */
export function whole(minimum: number, maximum: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < minimum || number > maximum)
      throw new InvalidArgumentError(`must be a whole number from ${minimum} to ${maximum}.`);
    return number;
  };
}
