import { describe, expect, test } from "vitest";
import type { HostedControlPlane } from "@causeway/api";
import type { StorageState } from "../runtime.ts";
import { storageConditions, storageEvents } from "./storage-condition.ts";

const MIB = 2 ** 20;
const stored = (mib: number, stage: StorageState["stage"]): StorageState => ({
  bytes: mib * MIB,
  budget: 100 * MIB,
  stage,
});
/** The object as it was published with a state. */
const after = (state: StorageState | undefined): HostedControlPlane =>
  ({ status: { conditions: storageConditions(state) } }) as unknown as HostedControlPlane;

describe("the condition of a control plane's storage", () => {
  test("has no condition before it was measured, or with an etcd of its own", () => {
    expect([storageConditions(undefined), storageEvents(after(undefined), undefined)]).toEqual([[], []]);
  });

  test("says who must act when it is more than its budget", () => {
    expect(storageConditions(stored(100, "Within"))).toMatchObject([{ status: "True", reason: "WithinBudget" }]);
    const [exceeded] = storageConditions(stored(120, "Exceeded"));
    expect(exceeded).toMatchObject({ status: "False", reason: "BudgetExceeded" });
    expect(exceeded?.message).toContain("it stores 120 MiB, and its budget in the shared etcd is 100 MiB");
    expect(exceeded?.message).toContain("delete objects, or raise spec.limits.bytes (PODS_STORAGE_EXCEEDED)");
    const [sealed] = storageConditions(stored(126, "Sealed"));
    expect(sealed).toMatchObject({ status: "False", reason: "Sealed" });
    expect(sealed?.message).toContain("the operator of the service cluster must make space");
    const [opens] = storageConditions({ ...stored(126, "Sealed"), opensAt: Date.UTC(2026, 0, 1) });
    expect(opens?.message).toContain("from 2026-01-01T00:00:00Z on its users can delete objects");
    expect(opens?.message).not.toContain("operator");
    const [waits] = storageConditions({ ...stored(140, "Sealed"), lacksSpace: true });
    expect(waits?.message).toContain("the shared etcd has too little space to let its users delete objects");
  });

  const rows: [string, StorageState | undefined, StorageState, string[]][] = [
    ["no event at first", undefined, stored(10, "Within"), []],
    ["a warning when it exceeds it", stored(10, "Within"), stored(120, "Exceeded"), ["Warning"]],
    ["a warning when it exceeds it at first", undefined, stored(120, "Exceeded"), ["Warning"]],
    ["no second one while it grows", stored(120, "Exceeded"), stored(121, "Exceeded"), []],
    ["a warning when it is sealed", stored(120, "Exceeded"), stored(126, "Sealed"), ["Warning"]],
    ["an event when it is within it again", stored(120, "Exceeded"), stored(50, "Within"), ["Normal"]],
  ];
  test.each(rows)("has %s", (_, before, now, types) => {
    expect(storageEvents(after(before), now).map(({ type }) => type)).toEqual(types);
  });
});
