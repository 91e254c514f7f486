import { quantity } from "../model/quantity.ts";

/** A quantity in thousandths, rounded up. */
export function thousandths(value: unknown): number {
  return quantity(value, 1e-3);
}

const SUFFIXES = ["m", "", "k", "M", "G", "T", "P", "E"];

/** Thousandths as a quantity in decimal form: 1500 is "1500m", 2000 is "2", 3000000 is "3k". */
export function quantityText(value: number): string {
  if (value === 0) return "0";
  let rest = Math.round(value);
  let step = 0;
  for (; rest % 1000 === 0 && step < SUFFIXES.length - 1; step += 1) rest /= 1000;
  return `${rest}${SUFFIXES[step] ?? ""}`;
}
