/** Changes in progress that no request began: they end, too. */
import { expect, it } from "vitest";
import type { MagnumClusterStatus } from "@causeway/api";
import { group, NOW, settled } from "../testing/observed.ts";
import type { Observed } from "./gather.ts";
import { magnumLabels } from "./names.ts";
import { plan } from "./plan.ts";

const HOUR = 60 * 60_000;

/** One server fails for its quota. */
const failing = [
  {
    kind: "OpenStackMachine",
    metadata: { name: "m0", labels: { [magnumLabels.nodeGroup]: group.uuid } },
    status: { conditions: [{ type: "InstanceReady", status: "False", reason: "QuotaExceeded", message: "(req-1)" }] },
  },
] as unknown as Observed["servers"];

/** The cluster with this status, whose node is not there. */
const waiting = (status: object, servers: Observed["servers"] = []): Observed => ({
  ...settled({ status }),
  machines: [],
  servers,
});

const handedOver = { created: true, status: "UPDATE_IN_PROGRESS", reason: "Phase retire runs.", observedGeneration: 2 };
const complete = { created: true, status: "CREATE_COMPLETE", observedGeneration: 2 };

/** After the round in which the MachineDeployment, which was deleted by hand, is applied again. */
function reapplied(): MagnumClusterStatus {
  const observed = waiting(complete);
  const standing = observed.standing.filter(({ kind }) => kind !== "MachineDeployment");
  const { status, steps } = plan({ ...observed, standing, deployments: [] }, NOW);
  expect(steps).toMatchObject([{ type: "apply", manifest: { object: { kind: "MachineDeployment" } } }]);
  return status;
}

it.each<[string, () => object]>([
  ["that a migration handed over", () => handedOver],
  ["whose objects were applied again without a change", reapplied],
])("a cluster %s is in progress for an hour at most, and fails at once for what does not pass", (_, before) => {
  const { status, wait } = plan(waiting(before()), NOW);
  expect(status).toMatchObject({ status: "UPDATE_IN_PROGRESS", reason: "default-worker: 0 of 1 nodes are ready" });
  expect(wait).toMatchObject({ until: NOW + HOUR });
  expect(plan(waiting(status), NOW + HOUR - 1).status.status).toBe("UPDATE_IN_PROGRESS");
  expect(plan(waiting(status), NOW + HOUR).status).toMatchObject({
    status: "UPDATE_FAILED",
    code: "MAGNUM_UPDATE_TIMEOUT",
  });
  const failed = plan(waiting(before(), failing), NOW).status;
  expect(failed).toMatchObject({ status: "UPDATE_FAILED", code: "QuotaExceeded" });
  expect(plan(settled({ status: failed }), NOW + 2 * HOUR).status.status).toBe("UPDATE_COMPLETE");
});

it("a complete cluster whose node breaks by itself remains complete, however long that lasts", () => {
  const { status } = plan(waiting(complete, failing), NOW);
  expect(status.status).toBe("CREATE_COMPLETE");
  expect(plan(waiting(status, failing), NOW + 10 * HOUR).status.status).toBe("CREATE_COMPLETE");
});
