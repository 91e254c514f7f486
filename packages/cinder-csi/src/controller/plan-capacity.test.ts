import { bytesOf } from "@causeway/csi-openstack";
import type { StoragePool, VolumeType } from "@causeway/openstack";
import { expect, test } from "vitest";
import { planCapacity } from "./plan-capacity.ts";

const limits = { maxTotalVolumeGigabytes: 1000, totalGigabytesUsed: 100 };
const pool = (host: string, free: number | string, more: object = {}): StoragePool => ({
  name: `${host}@lvm#pool`,
  capabilities: { volume_backend_name: "lvm", free_capacity_gb: free, total_capacity_gb: 400, ...more },
});
const types: VolumeType[] = [{ id: "t", name: "fast", extra_specs: { volume_backend_name: "ssd" } }];
const zones = new Map([
  ["a@lvm", "az-a"],
  ["b@lvm", "az-b"],
]);
const of = (...pools: StoragePool[]) => ({ pools, types, zones });
const both = of(pool("a", 200), pool("b", 300));

test.each([
  ["is the rest of the quota without pools", limits, undefined, "", "", 900, undefined],
  ["is unlimited without a quota and pools", { maxTotalVolumeGigabytes: -1 }, undefined, "", "", undefined, undefined],
  ["is nothing with a quota of nothing", { maxTotalVolumeGigabytes: 0 }, undefined, "", "", 0, undefined],
  [
    "is what a pool has free whose host is known with its backend",
    limits,
    {
      ...both,
      zones: new Map([
        ["a", "az-a"],
        ["b@lvm", "az-b"],
      ]),
    },
    "",
    "az-b",
    300,
    300,
  ],
  ["is at least what the largest pool has, in any order", limits, of(pool("b", 300), pool("a", 200)), "", "", 500, 300],
  [
    "leaves out nothing where the total is not known",
    limits,
    of(pool("a", 200, { total_capacity_gb: "unknown", reserved_percentage: 10 })),
    "",
    "",
    200,
    200,
  ],
  ["is what all pools have free", limits, both, "", "", 500, 300],
  ["is what the pools of the zone have free", limits, both, "", "az-a", 200, 200],
  ["is nothing where no pool is in the zone", limits, both, "", "az-c", 0, 0],
  ["is nothing where no pool is of the type", limits, both, "fast", "", 0, 0],
  [
    "is that of the type's pools",
    limits,
    of(pool("a", 9), pool("b", 50, { volume_backend_name: "ssd" })),
    "fast",
    "",
    50,
    50,
  ],
  ["leaves out what is reserved", limits, of(pool("a", 200, { reserved_percentage: 10 })), "", "", 160, 160],
  ["is never more than the quota", { ...limits, totalGigabytesUsed: 900 }, both, "", "", 100, 100],
  [
    "is the quota where a pool has infinite space",
    limits,
    of(pool("a", "infinite"), pool("b", 1)),
    "",
    "",
    900,
    undefined,
  ],
  ["is the quota where a pool's space is unknown", limits, of(pool("a", "unknown")), "", "", 900, undefined],
])("the capacity %s", (_, own, backends, type, zone, available, largest) => {
  const result = planCapacity({ limits: own, backends, type, zone });
  expect(result.availableCapacity).toBe(available === undefined ? 2n ** 63n - 1n : bytesOf(available));
  expect(result.maximumVolumeSize).toBe(largest === undefined ? undefined : bytesOf(largest));
});
