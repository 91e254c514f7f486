import type { OpenStackDeployment, OpenStackDeploymentStatus } from "@causeway/api";
import type { KubeObject, Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { resolveCatalogue, type Catalogue } from "../catalogue/index.ts";
import { withNorthboundRebuild, withSouthboundRebuild } from "../restore/ovn-databases.ts";
import { spec } from "../testing/rendered.ts";
import type { Judged } from "./components.ts";
import { ovnConditions, ovnDatabasesOf, rebuiltOf } from "./plan-ovn-databases.ts";

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
  readonly restore?: { readonly from: string };
}

const plan = (given: Given) => plans(given).nb;

function plans({ members, southbound = [], status, known, southboundStatus, restore }: Given) {
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
    spec: restore ? { restore } : {},
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

describe("the pods that report a database of OVN", () => {
  const reportedBy = (change: (pod: Pod) => object) => {
    const deployment = { metadata: { name: "cloud" }, spec: {} } as OpenStackDeployment;
    const pods = [{ ...pod("ovn-nb", 0, says(OLD)), ...change(pod("ovn-nb", 0, says(OLD))) } as Pod];
    return ovnDatabasesOf({ deployment, pods, objects: new Map() }).nb.status;
  };
  const container = (name: string, message: string) => ({
    status: { initContainerStatuses: [{ name, state: { terminated: { exitCode: 0, message } } }] },
  });

  test.each<[string, (pod: Pod) => object, object | undefined]>([
    ["is that of the container that prepares the data", () => ({}), { database: OLD }],
    ["is no other container's", () => container("other", OLD), undefined],
    ["is no pod's without labels", ({ metadata: { labels: _none, ...metadata } }) => ({ metadata }), undefined],
    ["is no pod's that has no status yet", () => ({ status: undefined }), undefined],
    ["is none where the text begins with one", () => container("prepare-data", `${OLD}-0`), undefined],
  ])("are read so that the identity %s", (_, change, expected) => expect(reportedBy(change)).toEqual(expected));

  test("are one, where the StatefulSet does not exist: another one's loss is not waited for", () => {
    const deployment = { metadata: { name: "cloud" }, spec: {}, status: { northbound: status } } as OpenStackDeployment;
    const lostBy = (pods: Pod[]) => ovnDatabasesOf({ deployment, pods, objects: new Map() }).nb.status?.rebuilding;
    expect(lostBy([pod("ovn-nb", 0, says(NEW))])).toBe(NEW);
    expect(lostBy([pod("ovn-nb", 1, says(NEW))])).toBeUndefined();
  });
});

describe("a restore from a backup", () => {
  const restore = { from: "20260101t020000z" };
  const rebuiltAt = "2026-01-01T00:00:00Z";
  test.each<[string, Given, OpenStackDeploymentStatus["northbound"]]>([
    ["the database that members report", { members: [says(NEW)], status }, { database: NEW }],
    ["the known one while no member reports any", { members: ["unprepared"], status }, status],
    [
      "the rebuild that was under way while no member reports any",
      { members: [], status: { database: OLD, rebuilding: NEW } },
      { database: OLD, rebuilding: NEW },
    ],
  ])("is no loss of OVN's database: the status has %s", (_, given, expected) => {
    const { nb, sb } = plans({ ...given, southboundStatus: { database: SOUTH, rebuiltAt }, restore });
    expect(nb).toEqual({ status: expected, rendered: undefined, problem: undefined, events: [] });
    expect(sb).toEqual({
      status: { database: SOUTH, rebuiltAt },
      rendered: undefined,
      problem: undefined,
      events: [],
    });
  });
});

describe("the end of a rebuild", () => {
  const now = Date.UTC(2026, 0, 1);
  const rebuiltAt = "2026-01-01T00:00:00Z";
  const catalogue = resolveCatalogue(spec);
  const judgedWithout = ({ components }: Catalogue, open: string, absent = "") =>
    new Map(
      components
        .filter(({ name }) => name !== absent)
        .map((component): [string, Judged] => {
          const state = component.name === open ? "Progressing" : "Ready";
          return [component.name, { component, readiness: { state, step: "" }, writes: [], unmet: [] }];
        }),
    );
  const sides = [
    {
      side: "nb",
      given: { members: [says(NEW)], status },
      changed: withNorthboundRebuild(catalogue),
      job: "neutron-ovn-sync",
      readers: ["ovn-northd", "neutron-server", "octavia-api"],
      others: ["mariadb", "ovn-sb", "ovn-controller"],
      event: { reason: "NetworkRebuilt", message: `Neutron's networks are in OVN's northbound database ${NEW}` },
    },
    {
      side: "sb",
      given: {
        members: [says(OLD)],
        status,
        southbound: [says(NEW)],
        southboundStatus: { database: SOUTH },
      },
      changed: withSouthboundRebuild(catalogue),
      job: "ovn-sb-sync",
      readers: ["ovn-northd", "ovn-controller", "neutron-server"],
      others: ["mariadb", "ovn-nb"],
      event: { reason: "SouthboundRebuilt", message: `all nodes read OVN's southbound database ${NEW}` },
    },
  ] as const;

  test.each(sides)("of $side is when its Job and all that reads it are done", (one) => {
    const { side, given, changed, job, readers, others, event } = one;
    const found = plans(given);
    const isOver = (open: string, absent?: string) => {
      const { status: after } = rebuiltOf(found, judgedWithout(changed, open, absent), now)[side];
      return after?.rebuilding === undefined;
    };
    for (const name of [job, ...readers]) expect(isOver(name), name).toBe(false);
    for (const name of others) expect(isOver(name), name).toBe(true);
    expect(isOver("", job)).toBe(false);
    const over = rebuiltOf(found, judgedWithout(changed, ""), now)[side];
    expect(over.status).toEqual({ database: NEW, rebuiltAt });
    expect(over.events.at(-1)).toEqual({ type: "Normal", ...event });
  });

  test.each(sides)("of $side is none where nothing is rebuilt, or where a restore is under way", (one) => {
    const { side, changed } = one;
    const judged = judgedWithout(changed, "");
    const lost = { database: OLD, rebuilding: NEW };
    const restore = { from: "20260101t020000z" };
    const during = plans({ members: [], status: lost, southbound: [], southboundStatus: lost, restore });
    expect(rebuiltOf(during, judged, now)[side]).toEqual({ status: lost, problem: undefined, events: [] });
    const intact = plans({ members: [says(OLD)], southbound: [says(OLD)] });
    expect(rebuiltOf(intact, judged, now)[side]).toMatchObject({ status: { database: OLD }, events: [] });
  });

  test("is a condition of each side, which is false while the database is lost", () => {
    const lost = { nb: { database: OLD, rebuilding: NEW }, sb: { database: SOUTH, rebuilding: NEW } };
    const rebuilt = { database: NEW, rebuiltAt };
    const of = (nb: OpenStackDeploymentStatus["northbound"], sb: OpenStackDeploymentStatus["southbound"]) =>
      ovnConditions({ nb: { status: nb, problem: undefined }, sb: { status: sb, problem: undefined } }, undefined);
    const no = { status: "False", reason: "DatabaseLost" };
    expect(of(lost.nb, lost.sb)).toEqual([
      {
        ...no,
        type: "NetworkRebuilt",
        message: `OVN's northbound database ${OLD} is gone, and ${NEW} is in its place`,
      },
      {
        ...no,
        type: "SouthboundRebuilt",
        message: `OVN's southbound database ${SOUTH} is gone, and ${NEW} is in its place`,
      },
    ]);
    const yes = { status: "True", reason: "Rebuilt", message: `at ${rebuiltAt}, into ${NEW}` };
    expect(of(rebuilt, rebuilt)).toEqual([
      { ...yes, type: "NetworkRebuilt" },
      { ...yes, type: "SouthboundRebuilt" },
    ]);
    expect(of({ database: OLD }, undefined)).toEqual([]);
  });
});

describe("the report of a lost database of OVN", () => {
  test.each<[string, Given, "nb" | "sb", object]>([
    [
      "a lost northbound one comes from Neutron's",
      { members: [says(NEW)], status },
      "nb",
      {
        type: "Warning",
        reason: "NorthboundLost",
        message: `OVN's northbound database ${OLD} is gone, and ${NEW} is in its place: it is rebuilt from Neutron's`,
      },
    ],
    [
      "a lost southbound one comes from the northbound one",
      { members: [says(OLD)], status, southbound: [says(NEW)], southboundStatus: { database: SOUTH } },
      "sb",
      {
        type: "Warning",
        reason: "SouthboundLost",
        message: `OVN's southbound database ${SOUTH} is gone, and ${NEW} is in its place: it is rebuilt from the northbound one`,
      },
    ],
  ])("is an event: %s", (_, given, side, event) => {
    expect(plans(given)[side].events).toEqual([event]);
  });

  test("says of a doubtful loss what to start or delete, and of several databases what to delete", () => {
    expect(plan({ members: [says(NEW), "unprepared"], status }).problem?.message).toBe(
      `a member of OVN's northbound database reports ${NEW}; cloud-ovn-nb-1 may have ${OLD}, and has not ` +
        "started since: start it, or, if its disk is lost, delete its PersistentVolumeClaim and pod",
    );
    const several = { members: [says(NEW), says(SOUTH), "unprepared"], status } as const;
    expect(plan(several).problem).toEqual({
      reason: "SeveralDatabases",
      message:
        `members report more than one northbound database of OVN: ${NEW}, ${SOUTH}. Clients may write to either: ` +
        "delete the PersistentVolumeClaims and pods of the members whose database is to go",
    });
    const { nb, sb } = plans({ ...several, southbound: [says(NEW), says(SOUTH)] });
    const types = ovnConditions({ nb, sb }, undefined).map(({ type, status: value }) => `${type} ${value}`);
    expect(types).toEqual(["NorthboundUnique False", "SouthboundUnique False"]);
  });
});
