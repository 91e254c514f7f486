/** What `causeway run cloud-controller-manager` refuses before it starts anything. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { stageFolder, stageManager, type ManagerStage } from "../support/manager-stage.ts";
import { TIMEOUT, eventually } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

let stage: ManagerStage;
beforeAll(async () => {
  stage = await stageManager(stageFolder());
});
afterAll(() => stage?.close());

test.each([
  ["--leader-migration-config=/none/file", "/none/file cannot be used for the migration"],
  ["--cluster-cidr=pods", "--cluster-cidr must be a CIDR"],
  ["--controllers=nodes", '--controllers names "nodes", which is not a controller'],
  ["--leader-elect-lease-duration=15", "--leader-elect-lease-duration must be a duration"],
  ["--kubeconfig=/none/admin.conf", "there is no kubeconfig at /none/admin.conf"],
  ["--cloud-config=/none/cloud.conf", "/none/cloud.conf cannot be read"],
])("the flag %s ends run with status 2 before anything is started", async (flag, message) => {
  const ccm = stage.start("--enable-leader-migration", flag);
  expect(await ccm.ended).toBe(2);
  await eventually(TIMEOUT, () => ccm.output().includes(message));
});
