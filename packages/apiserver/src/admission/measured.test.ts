import { describe, expect, test } from "vitest";
import type { AdmissionPlugin } from "../contract/admission.ts";
import type { Admitted, ClusterMetrics } from "../contract/cluster-metrics.ts";
import { admissionCluster, attemptOn, MAPS } from "../testing/attempts.ts";
import { measured } from "./measured.ts";

const object = { metadata: { name: "o" } };
const { attempt } = attemptOn(await admissionCluster(), MAPS, { object });

function observed(names: { mutate?: string; validate?: string }, plugin: Partial<AdmissionPlugin>) {
  const seen: Admitted[] = [];
  const metrics = { admitted: (one: Admitted) => void seen.push(one) } as unknown as ClusterMetrics;
  const made = measured(metrics, names, { concerns: () => true, ...plugin });
  return { made, seen: () => seen.map(({ seconds, ...rest }) => ({ ...rest, isTime: seconds >= 0 && seconds < 1 })) };
}

describe("the time of an admission plugin", () => {
  test("is that of each phase, under its name", async () => {
    const { made, seen } = observed(
      { mutate: "M", validate: "V" },
      { mutate: (a) => Promise.resolve(a.object), validate: () => Promise.resolve() },
    );
    expect(await made.mutate?.(attempt)).toBe(object);
    await made.validate?.(attempt);
    const common = { operation: "CREATE", rejected: false, isTime: true };
    expect(seen()).toEqual([
      { name: "M", type: "admit", ...common },
      { name: "V", type: "validate", ...common },
    ]);
  });

  test("is that of refusals too", async () => {
    const { made, seen } = observed({}, { validate: () => Promise.reject(new Error("no")) });
    await expect(made.validate?.(attempt)).rejects.toThrow("no");
    expect(Object.keys(made)).toEqual(["concerns", "validate"]);
    expect(seen()).toEqual([{ name: "", type: "validate", operation: "CREATE", rejected: true, isTime: true }]);
  });

  test("leaves out the phase that the plugin does not have", () => {
    const { made } = observed({}, { concerns: (_c, _o, phase) => phase === "mutate", mutate: () => Promise.reject() });
    expect(Object.keys(made)).toEqual(["concerns", "mutate"]);
    expect(made.concerns(attempt.call, "CREATE", "mutate")).toBe(true);
    expect(made.concerns(attempt.call, "CREATE", "validate")).toBe(false);
  });
});
