import { describe, expect, test } from "vitest";
import type { Machine } from "@causeway/api";
import { observed as observedMachine } from "../testing/machine-observed.ts";
import { at, cluster, node, noDrain, now, referred, servingMachine } from "../testing/objects.ts";
import { planDeletion } from "./deletion.ts";
import type { Observed } from "./observed.ts";

const base = servingMachine("w-1");
const leaving = (fields: Partial<Machine["metadata"]> = {}): Machine => ({
  ...base,
  metadata: { ...base.metadata, deletionTimestamp: at(now), finalizers: ["machine.cluster.x-k8s.io"], ...fields },
});
const on = (of: ReturnType<typeof node>) =>
  ({
    reach: "connected",
    nodes: [of],
    drain: { ...noDrain, volumes: { attachments: [], persistentVolumes: [] } },
  }) as const;
const observed = (fields: Partial<Observed>): Observed =>
  observedMachine({ machine: leaving(), workload: on(cordoned), ...fields });
const cordoned = node("w-1", { unschedulable: true });
const unreachable = { status: { conditions: [{ type: "Ready", status: "Unknown" as const }] }, unschedulable: true };
const gone = referred("OpenStackMachine", "w-1");

describe("a drained Node that load balancers may lead to", () => {
  const saying = (said: string | undefined, of = cordoned) =>
    on({
      ...of,
      metadata: { ...of.metadata, annotations: said === undefined ? {} : { "causeway.dev/load-balancers": said } },
    });
  const since = (status: Machine["status"], fields: Partial<Machine["metadata"]> = {}): Machine => ({
    ...leaving(fields),
    status: { ...base.status, ...status },
  });
  const skipped = { "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach": "" };
  const undrained = { "machine.cluster.x-k8s.io/exclude-node-draining": "" };
  const waits = "WaitingForLoadBalancers";
  const goesOn = "WaitingForInfrastructureDeletion";
  test.each<[string, Partial<Observed>, string]>([
    ["keeps the host until it has left them", { workload: saying("in") }, waits],
    ["keeps it no longer", { workload: saying("out") }, goesOn],
    ["keeps none where no cloud controller says so", { workload: saying(undefined) }, goesOn],
    ["keeps none when it is lost", { workload: saying("in", node("w-1", unreachable)) }, goesOn],
    [
      "keeps none that is not to leave them",
      {
        workload: saying("in", { ...cordoned, metadata: { name: "w-1" } }),
        machine: since({}, { annotations: undrained }),
      },
      goesOn,
    ],
    [
      "keeps none that was neither drained nor waited for",
      { workload: saying("in"), machine: since({}, { annotations: { ...undrained, ...skipped } }) },
      goesOn,
    ],
    ["keeps none that goes already", { workload: saying("in"), infrastructure: gone }, "WaitingForBootstrapDeletion"],
    [
      "keeps none of a cluster that goes",
      { workload: saying("in"), cluster: cluster({ metadata: { name: "demo", deletionTimestamp: at(now) } }) },
      goesOn,
    ],
    [
      "keeps the host for a minute after its volumes",
      {
        workload: saying("in"),
        machine: since({
          deletion: { nodeDrainStartTime: at(now - 999_000), waitForNodeVolumeDetachStartTime: at(now - 59_000) },
        }),
      },
      waits,
    ],
    [
      "keeps it for no more than that",
      { workload: saying("in"), machine: since({ deletion: { waitForNodeVolumeDetachStartTime: at(now - 60_000) } }) },
      goesOn,
    ],
    [
      "keeps it for a minute from the drain's beginning where volumes are not waited for",
      {
        workload: saying("in"),
        machine: since({ deletion: { nodeDrainStartTime: at(now - 60_000) } }, { annotations: skipped }),
      },
      goesOn,
    ],
  ])("%s", (_, given, reason) => expect(planDeletion(observed(given), now).reason).toBe(reason));
  test("is named in the condition while it is waited for", () => {
    const { message, until, steps } = planDeletion(observed({ workload: saying("in") }), now);
    expect([message, until, steps]).toEqual([
      "Waiting for the cloud controller to take Node w-1 out of load balancers, a minute at most",
      now + 2_000,
      [],
    ]);
  });
});
