import type { Volume } from "@causeway/openstack";
import { expect, it } from "vitest";
import { listAfter } from "./plan-list.ts";

const NOW = Date.parse("2026-11-24T12:00:00Z");
const MINUTE = 60_000;

function volume(minutesAgo: number, servers = 1): Volume {
  const updated_at = new Date(NOW - minutesAgo * MINUTE).toISOString().slice(0, -1);
  return { updated_at, attachments: Array.from({ length: servers }, () => ({})) } as unknown as Volume;
}

it.each<[string, readonly Volume[], number]>([
  ["no volume", [], Number.POSITIVE_INFINITY],
  ["no attached volume", [volume(0, 0)], Number.POSITIVE_INFINITY],
  ["a change a moment ago", [volume(0.1)], 50_000],
  ["a change that the service's clock puts into the future", [volume(-5)], 50_000],
  ["no change for ten minutes", [volume(10), volume(90)], 5 * MINUTE],
  ["a change of a volume that is not attached", [volume(4, 0), volume(90)], 2 * MINUTE],
  ["no change for a day", [volume(1440)], 15 * MINUTE - 10_000],
  ["a volume that was never changed", [{ ...volume(0), updated_at: null } as unknown as Volume], 15 * MINUTE - 10_000],
])("the plan of volumes' lists lists again with %s", (_name, volumes, expected) => {
  expect(listAfter(volumes, NOW)).toBe(expected);
});
