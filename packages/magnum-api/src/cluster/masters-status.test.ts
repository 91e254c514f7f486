/** The state of default-master, which is that of the control plane and not of the workers. */
import { expect, it } from "vitest";
import type { MagnumClusterStatus, OpenStackCluster } from "@causeway/api";
import { groupView } from "../resources/nodegroup-view.ts";
import { at, group, NOW, settled } from "../testing/observed.ts";
import type { Observed } from "./gather.ts";
import { migratingAnnotation } from "./names.ts";
import { plan } from "./plan.ts";

const complete = {
  created: true,
  status: "CREATE_COMPLETE",
  observedGeneration: 2,
  masters: { status: "CREATE_COMPLETE" },
};
const changed = { ...complete, observedGeneration: 1 };
const pods = (ready: number) => ({ runtime: "Pods", readyReplicas: ready, upToDateReplicas: ready });
const three = { masterCount: 3, masterLBEnabled: true };
const noNodes = (observed: Observed): Observed => ({ ...observed, machines: [] });

/** What clients see of it once the plan's status is written. */
function shownOf(observed: Observed): readonly [status: unknown, reason: unknown] {
  const { status } = plan(observed, NOW);
  const object = { ...observed.object, status: status as MagnumClusterStatus };
  const { detail } = groupView(object, "master", { origin: "", minor: 10 });
  return [detail["status"], detail["status_reason"]];
}

function withoutNetwork(): Observed {
  const observed = noNodes(settled({}, { conditions: [] }));
  const conditions = [{ type: "Ready", status: "False", reason: "OverlappingCIDR", message: "why" }];
  return {
    ...observed,
    infrastructure: { ...observed.infrastructure, status: { conditions } } as unknown as OpenStackCluster,
  };
}

const waiting = "waiting for the control plane";
it.each<[string, Observed, string, string | null]>([
  ["is being created until the API serves", settled({}, { conditions: [] }), "CREATE_IN_PROGRESS", waiting],
  ["is complete when the API serves, though nodes are missing", noNodes(settled()), "CREATE_COMPLETE", ""],
  [
    "is updated while the control plane has the version of before",
    settled({ status: changed }, { version: "v1.33.0" }),
    "UPDATE_IN_PROGRESS",
    waiting,
  ],
  [
    "has been updated when it has the new one, though nodes are missing",
    noNodes(settled({ status: { ...changed, masters: { status: "UPDATE_IN_PROGRESS" } } })),
    "UPDATE_COMPLETE",
    "",
  ],
  [
    "is updated until all masters are ready",
    settled({ spec: three, status: changed }, pods(1)),
    "UPDATE_IN_PROGRESS",
    `${waiting}: 1 of 3 masters are ready`,
  ],
  ["is as it was while nodes are resized", noNodes(settled({ status: changed })), "CREATE_COMPLETE", ""],
  [
    "is updated while another certificate authority is made known",
    settled({ spec: { rotateAuthoritiesAfter: at(-2) }, status: changed }),
    "UPDATE_IN_PROGRESS",
    "rotating the certificate authority: the new one is being distributed",
  ],
  ["has failed with the cause of its network", withoutNetwork(), "CREATE_FAILED", "network: why (OverlappingCIDR)"],
  [
    "remains complete when the API breaks later",
    settled({ status: complete }, { conditions: [] }),
    "CREATE_COMPLETE",
    null,
  ],
  [
    "of a release before is complete",
    settled({ status: { ...complete, masters: undefined } }, { conditions: [] }),
    "CREATE_COMPLETE",
    "",
  ],
])("default-master %s", (_, observed, status, reason) => {
  expect(shownOf(observed)).toEqual([status, reason]);
});

it("default-master of a cluster that is being migrated has no state of its own", () => {
  const annotations = { [migratingAnnotation]: `switch Running ${at(-1)}` };
  const observed = settled({ metadata: { annotations }, spec: { nodeGroups: [group] }, status: complete });
  expect(plan(observed, NOW).status).not.toHaveProperty("masters");
});
