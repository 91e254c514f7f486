import type { OpenStackDeployment, OpenStackDeploymentStatus } from "@causeway/api";
import type { KubeObject, Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { ovnConditions, ovnDatabasesOf } from "./plan-ovn-databases.ts";

const OLD = "11111111-1111-4111-8111-111111111111";
const NEW = "22222222-2222-4222-8222-222222222222";
const SOUTH = "33333333-3333-4333-8333-333333333333";

type Report = "unprepared" | "failed" | { readonly says: string; readonly isDeleted?: true };

function pod(component: string, number: number, report: Report): Pod {
  const terminated =
    report === "unprepared"
      ? undefined
      : report === "failed"
        ? { exitCode: 1, message: "waits" }
        : { exitCode: 0, message: report.says };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `cloud-${component}-${number}`,
      labels: { "openstack.causeway.dev/component": component },
      ...(typeof report === "object" && report.isDeleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: { containers: [] },
    status: { initContainerStatuses: [{ name: "prepare-data", state: terminated ? { terminated } : {} }] },
  } as unknown as Pod;
}

interface Given {
  readonly members: readonly (Report | undefined)[];
  readonly southbound?: readonly Report[];
  readonly status?: OpenStackDeploymentStatus["northbound"];
  readonly known?: Record<string, string>;
  readonly southboundStatus?: OpenStackDeploymentStatus["southbound"];
}

const plan = (given: Given) => plans(given).nb;

function plans({ members, southbound = [], status, known, southboundStatus }: Given) {
  const pods = [
    ...members.flatMap((report, number) => (report === undefined ? [] : [pod("ovn-nb", number, report)])),
    ...southbound.map((report, number) => pod("ovn-sb", number, report)),
  ];
  const objects = new Map<string, KubeObject>([
    ["StatefulSet/cloud-ovn-nb", { spec: { replicas: members.length } } as unknown as KubeObject],
    ["StatefulSet/cloud-ovn-sb", { spec: { replicas: southbound.length } } as unknown as KubeObject],
    ...(known ? [["ConfigMap/cloud-ovn-known", { data: known } as unknown as KubeObject] as const] : []),
  ]);
  const deployment = {
    metadata: { name: "cloud" },
    spec: {},
    status: {
      ...(status ? { northbound: status } : {}),
      ...(southboundStatus ? { southbound: southboundStatus } : {}),
    },
  } as OpenStackDeployment;
  return ovnDatabasesOf({ deployment, pods, objects });
}

const conditions = (nb: Parameters<typeof ovnConditions>[0]["nb"], before: Parameters<typeof ovnConditions>[1]) =>
  ovnConditions({ nb, sb: { status: undefined, problem: undefined } }, before);

const says = (identity: string): Report => ({ says: identity });
const isDying = { says: OLD, isDeleted: true } as const;
const status = { database: OLD };

describe("the decision that OVN's northbound database is lost", () => {
  test.each<[string, Given["members"]]>([
    ["every member has said another identity, or began without data", [says(NEW), says(""), says("")]],
    ["the only member has said another identity", [says(NEW)]],
  ])("is made where %s", (_, members) => {
    const { status: planned, events, problem } = plan({ members, status });
    expect(planned).toEqual({ database: OLD, rebuilding: NEW });
    expect(events).toMatchObject([{ reason: "NorthboundLost" }]);
    expect(problem).toBeUndefined();
  });

  test.each<[string, Given["members"], string]>([
    ["two pods are gone with their nodes", [says(NEW), undefined, undefined], "cloud-ovn-nb-1, cloud-ovn-nb-2"],
    ["one was not prepared yet", [says(NEW), says(""), "unprepared"], "cloud-ovn-nb-2"],
    ["the preparation of one failed", [says(NEW), says(""), "failed"], "cloud-ovn-nb-2"],
    ["one that began without data is being deleted", [says(NEW), { says: "", isDeleted: true }], "cloud-ovn-nb-1"],
  ])("waits, and a condition says for which members, where %s", (_, members, silent) => {
    const { status: planned, events, problem } = plan({ members, status });
    expect({ planned, events }).toEqual({ planned: status, events: [] });
    expect(problem?.reason).toBe("LossNotCertain");
    expect(problem?.message).toContain(`${silent} may have ${OLD}`);
  });

  test("counts what a pod has that is evicted from a node that does not respond", () => {
    const { status: planned, events, problem } = plan({ members: [says(NEW), isDying, isDying], status });
    expect({ planned, events }).toEqual({ planned: status, events: [] });
    expect(problem?.reason).toBe("SeveralDatabases");
  });

  test.each<[string, OpenStackDeploymentStatus["northbound"]]>([
    ["is being rebuilt", { database: OLD, rebuilding: NEW }],
    ["was rebuilt", { database: NEW, rebuiltAt: "2026-01-01T00:00:00Z" }],
  ])("is doubted by a condition where members with the former one return while another %s", (_, before) => {
    const planned = plan({ members: [says(NEW), says(OLD), says(OLD)], status: before });
    expect(planned.status).toEqual(before);
    expect(conditions(planned, [])).toContainEqual(
      expect.objectContaining({ type: "NorthboundUnique", status: "False", reason: "SeveralDatabases" }),
    );
  });

  test("has a condition that becomes true once there is one database, and none before there was a doubt", () => {
    const condition = { type: "NorthboundUnique", status: "False", reason: "SeveralDatabases" } as const;
    const before = [{ ...condition, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }];
    expect(conditions({ status, problem: undefined }, before)).toMatchObject([
      { status: "True", reason: "OneDatabase" },
    ]);
    expect(conditions({ status, problem: undefined }, [])).toEqual([]);
  });
});

describe("the decision that OVN's southbound database is lost", () => {
  const intact = { members: [says(OLD)], status };

  test.each<[string, Partial<Given>]>([
    ["the status names the former one", { southboundStatus: { database: SOUTH } }],
    ["the status of an earlier operator has none, and what was kept for members names it", { known: { sb: SOUTH } }],
  ])("is made where %s", (_, given) => {
    const { sb } = plans({ ...intact, southbound: [says(NEW), says("")], ...given });
    expect(sb.status).toEqual({ database: SOUTH, rebuilding: NEW });
    expect(sb.events).toMatchObject([{ reason: "SouthboundLost", message: expect.stringContaining(SOUTH) }]);
    expect(sb.rendered).toEqual({ database: NEW, isRebuilding: true });
  });

  test("is not made where none was known before", () => {
    const { sb } = plans({ ...intact, southbound: [says(NEW)] });
    expect({ status: sb.status, rendered: sb.rendered }).toEqual({ status: { database: NEW }, rendered: undefined });
  });

  test("waits for a member that may have it, and a condition of its own says so", () => {
    const { nb, sb } = plans({
      ...intact,
      southbound: [says(NEW), "unprepared"],
      southboundStatus: { database: SOUTH },
    });
    expect(sb.status).toEqual({ database: SOUTH });
    expect(ovnConditions({ nb, sb }, [])).toEqual([
      expect.objectContaining({
        type: "SouthboundUnique",
        reason: "LossNotCertain",
        message: expect.stringContaining(`cloud-ovn-sb-1 may have ${SOUTH}`),
      }),
    ]);
  });

  test.each<[string, OpenStackDeploymentStatus["southbound"], object | undefined]>([
    ["is new", { database: SOUTH }, undefined],
    [
      "follows another",
      { database: SOUTH, rebuiltAt: "2026-01-01T00:00:00Z" },
      { database: SOUTH, isRebuilding: false },
    ],
  ])("is carried out only when the northbound one is rebuilt, where the loss %s", (_, southboundStatus, rendered) => {
    const southbound = [says(NEW)];
    const { sb } = plans({ members: [says(NEW)], status, southbound, southboundStatus });
    expect(sb.status).toMatchObject({ database: SOUTH, rebuilding: NEW });
    expect(sb.rendered).toEqual(rendered);
    const later = plans({ members: [says(NEW)], status: { database: NEW }, southbound, southboundStatus });
    expect(later.sb.rendered).toEqual({ database: NEW, isRebuilding: true });
  });
});

describe("the databases that a member without data is given", () => {
  test.each<[string, Given, object | undefined]>([
    ["none at a first installation", { members: ["unprepared"], southbound: [says(SOUTH)] }, undefined],
    ["both that were reported", { members: [says(OLD)], southbound: [says(SOUTH)] }, { nb: OLD, sb: SOUTH }],
    [
      "those that were known, where no member reports any",
      { members: [undefined], status, known: { nb: OLD, sb: SOUTH } },
      { nb: OLD, sb: SOUTH },
    ],
    [
      "the known southbound one, where another one is reported, too",
      { members: [says(OLD)], southbound: [says(NEW), says(SOUTH)], status, known: { sb: SOUTH } },
      { nb: OLD, sb: SOUTH },
    ],
    [
      "the northbound one that is being rebuilt",
      { members: [says(NEW)], status: { database: OLD, rebuilding: NEW } },
      { nb: NEW },
    ],
    [
      "the southbound one that is being rebuilt",
      { members: [says(OLD)], status, southbound: [says(NEW)], southboundStatus: { database: SOUTH } },
      { nb: OLD, sb: NEW },
    ],
    [
      "the northbound one of the status, after an upgrade from an operator that kept none",
      { members: [], status },
      { nb: OLD },
    ],
  ])("are %s", (_, given, known) => {
    expect(plans(given).known).toEqual(known);
  });
});
