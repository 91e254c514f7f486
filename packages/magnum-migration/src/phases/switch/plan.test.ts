/** What users of the project read while the phase waits for the hosted control plane. */
import { expect, test } from "vitest";
import type { MigrationRecord } from "../../record/record.ts";
import { planSwitch, type SwitchFacts } from "./plan.ts";

test("a problem of the hosted control plane is its operator's alone", () => {
  const message = "etcd-0 of pod tenants/web-0 at 10.20.0.7:2379 is not ready";
  const facts = { wantedStage: "Serve", isAvailable: false, message } as SwitchFacts;
  const { wait, publicWait } = planSwitch(facts, { namespace: "n", name: "web" } as MigrationRecord);
  expect(wait).toBe(`HostedControlPlane n/web to be available: ${message}`);
  expect(publicWait).toBe("the hosted control plane to be available");
});
