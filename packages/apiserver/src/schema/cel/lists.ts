import type { CelEnvironment } from "./cel-environment.ts";

/** Kubernetes' list library: isSorted, sum, min, max, indexOf, lastIndexOf. */
export function registerLists(environment: CelEnvironment): void {
  environment
    .registerFunction("list.isSorted(): bool", (list: readonly unknown[]) =>
      list.every((item, i) => i === 0 || compare(list[i - 1], item) <= 0),
    )
    .registerFunction("list.sum(): dyn", sum)
    .registerFunction("list.min(): dyn", (list: readonly unknown[]) => extreme(list, -1))
    .registerFunction("list.max(): dyn", (list: readonly unknown[]) => extreme(list, 1))
    .registerFunction("list.indexOf(dyn): int", (list: readonly unknown[], item: unknown) =>
      BigInt(list.findIndex((other) => compare(other, item) === 0)),
    )
    .registerFunction("list.lastIndexOf(dyn): int", (list: readonly unknown[], item: unknown) =>
      BigInt(list.findLastIndex((other) => compare(other, item) === 0)),
    );
}

type Ordered = string | number | bigint | boolean | Date;

/** Negative, zero or positive; values that have no order only equal themselves. */
function compare(a: unknown, b: unknown): number {
  const [left, right] = [a as Ordered, b as Ordered];
  if (left < right) return -1;
  if (left > right) return 1;
  return left.valueOf() === right.valueOf() || Number(left) === Number(right) ? 0 : 1;
}

function sum(list: readonly unknown[]): unknown {
  const numbers = list.filter((item) => typeof item === "bigint" || typeof item === "number");
  if (numbers.length !== list.length) throw new Error("sum() needs a list of numbers");
  if (numbers.every((item) => typeof item === "bigint")) return numbers.reduce((total, item) => total + item, 0n);
  return numbers.reduce((total: number, item) => total + Number(item), 0);
}

function extreme(list: readonly unknown[], sign: 1 | -1): unknown {
  if (list.length === 0) throw new Error("min or max called on an empty list");
  return list.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best));
}
