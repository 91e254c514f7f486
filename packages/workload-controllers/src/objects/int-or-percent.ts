import type { IntOrString } from "@causeway/kubernetes";

/** An absolute number, or the percentage of `total`, rounded up or down. What is neither counts as 0. */
export function scaled(value: IntOrString | undefined, total: number, round: "up" | "down"): number {
  if (typeof value === "number") return value;
  const match = /^(\d+)%$/.exec(value ?? "");
  if (!match) return 0;
  const exact = (Number(match[1]) * total) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}
