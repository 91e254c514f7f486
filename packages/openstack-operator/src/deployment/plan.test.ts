/** Plans of a deployment, from its creation on, on a cluster whose workloads do at once what they are for. */
import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { beforeAll, describe, expect, test } from "vitest";
import { resolveCatalogue } from "../catalogue/index.ts";
import { labels } from "../model/names.ts";
import { node, PlayedDeployment, spec, START } from "../testing/deployed.ts";
import { idOf } from "./gather.ts";

const HOUR = 3_600_000;
const percona = { image: "pxc:8.0", proxyImage: "haproxy:2.8" };

let first: Awaited<ReturnType<PlayedDeployment["settle"]>>;
let settled: PlayedDeployment;
beforeAll(async () => {
  settled = new PlayedDeployment();
  first = await settled.settle();
});

/** The deployment that is ready, with these fields of its specification changed. */
function changed(more: Partial<OpenStackDeploymentSpec>): PlayedDeployment {
  const copy = settled.copy();
  copy.spec = { ...spec, ...more };
  return copy;
}
const object = (kind: string, name: string, marks: Record<string, string>, more: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind, metadata: { name, namespace: "openstack", labels: marks, ...more } }) as KubeObject;

describe("a deployment that is created", () => {
  test("first has passwords, keys and certificates for its nodes and names, and nothing else", () => {
    const deployment = new PlayedDeployment();
    const { steps, names, status, wait } = deployment.plan();
    expect(names).toEqual([
      "write-credentials cloud-credentials",
      "create-keys cloud-token-keys",
      "create-keys cloud-credential-keys",
      "issue-certificate cloud-libvirt-certificates",
      "issue-certificate cloud-octavia-certificates",
    ]);
    expect(steps.slice(3)).toMatchObject([
      { hosts: ["n1", "n2", "n3"], renews: true },
      { hosts: ["octavia.cloud.example.org"], renews: true },
    ]);
    expect({ status, wait, rendered: deployment.options }).toEqual({ status: {}, wait: undefined, rendered: [] });
  });

  test("has each workload only once what it needs serves", () => {
    const { needs } = resolveCatalogue(spec).graph;
    const passOf = new Map<string, number>();
    for (const [index, { steps }] of first.entries())
      for (const step of steps) {
        const component = step.type === "apply" && step.object.metadata.labels?.[labels.component];
        if (component && /^(Deployment|StatefulSet|DaemonSet|Job)$/.test(step.object.kind))
          passOf.set(component, index);
      }
    expect(passOf.size).toBe(first.at(-1)?.status.components?.length);
    for (const [component, pass] of passOf)
      for (const need of needs.get(component) ?? []) expect(pass, component).toBeGreaterThan(passOf.get(need) ?? -1);
  });

  test("is installed, then ready, with the release that runs, and waits for the next rotation of keys", () => {
    const phases = first.map(({ phase }) => phase);
    expect([...new Set(phases)]).toEqual([undefined, "Installing", "Ready"]);
    expect(first[1]?.status).toMatchObject({ ready: "0/54", observedGeneration: 1 });
    expect(first[1]?.status.release).toBeUndefined();
    const last = first.at(-1);
    expect(last).toMatchObject({ names: [], ready: "True AllReady: ", said: [] });
    expect(last?.status).toMatchObject({ ready: "54/54", release: "2025.1", rotation: { passwords: 0 } });
    for (const { status } of first) expect(Object.values(status)).not.toContain(undefined);
    expect(first.at(-2)?.said).toEqual(["Normal Ready: All 54 components are ready"]);
    expect(last?.wait).toEqual({ for: "a change of the deployment's objects", until: START + 12 * HOUR });
  });

  test("has no generation in its status where it has none", () => {
    const copy = settled.copy();
    const { generation: _none, ...metadata } = copy.metadata;
    copy.metadata = metadata;
    expect(copy.plan().status).not.toHaveProperty("observedGeneration");
  });
});

describe("a deployment is left as it is", () => {
  test("while it is deleted, or while not all of its objects are known", () => {
    const copy = changed({ region: "RegionTwo" });
    expect(copy.plan({ isComplete: false })).toMatchObject({ steps: [], status: settled.status });
    copy.metadata = { ...copy.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(copy.plan()).toMatchObject({ steps: [], status: settled.status });
    copy.status = undefined;
    expect(copy.plan({ isComplete: false })).toMatchObject({ steps: [], status: {} });
    expect(copy.plan()).toMatchObject({ steps: [], status: {} });
  });

  test("while it is paused", () => {
    expect(changed({ region: "RegionTwo", paused: true }).plan()).toMatchObject({ steps: [], phase: "Paused" });
  });

  const options = [{ section: "DEFAULT", option: "no_such_option", value: "1" }];
  test.each<[string, Partial<OpenStackDeploymentSpec>, string]>([
    [
      "it has an option that the release does not know",
      { services: [...(spec.services ?? []), { name: "keystone", configuration: options }] },
      "UnknownOption",
    ],
    ["its cells contradict each other", { cells: [{ name: "cell2" }], nodeGroups: twoCells() }, "CellRefused"],
    ["another operator is missing", { operators: { percona: { ...percona, use: "Always" } } }, "BackendRefused"],
    ["its certificate is missing", { tls: { from: "Secret", name: "given" } }, "CertificateInvalid"],
    [
      "it lacks a service that another one needs",
      { services: [{ name: "keystone", enabled: false }] },
      "ServiceMissing",
    ],
  ])("where %s, which it reports once", (_, more, reason) => {
    const copy = changed(more);
    const plan = copy.plan();
    expect(plan).toMatchObject({ steps: [], phase: "Refused" });
    expect(plan.ready).toMatch(new RegExp(`^False ${reason}: .{10}`));
    expect(plan.said).toEqual([expect.stringMatching(`^Warning ${reason}: `)]);
    copy.status = plan.status;
    expect(copy.plan()).toMatchObject({ steps: [], phase: "Refused", said: [] });
  });

  test("where an option is unknown, and the message names service and option", () => {
    const services = [
      ...(spec.services ?? []),
      { name: "keystone" as const, configuration: options },
      { name: "nova" as const, configuration: options },
    ];
    expect(changed({ services }).plan().ready).toMatch(/: keystone: .*no_such_option.*; nova: .*no_such_option/);
  });

  test("where a service is missing, and the message has what to do", () => {
    const { ready } = changed({ services: [{ name: "keystone", enabled: false }] }).plan();
    expect(ready).toMatch(/\. [A-Z].*$/);
  });

  test("unless the program has a defect, which is no refusal", () => {
    const copy = changed({ nodeGroups: undefined as never });
    expect(() => copy.plan()).toThrow(TypeError);
  });
});

/** A node in groups of two cells. */
function twoCells(): OpenStackDeploymentSpec["nodeGroups"] {
  const compute = { nodeSelector: { role: "compute" }, roles: ["Compute" as const] };
  return [...spec.nodeGroups, { ...compute, name: "second", cell: "cell2" }];
}

describe("a deployment that is changed", () => {
  test("is updated, and ready again, with its release all the time", async () => {
    const copy = changed({ region: "RegionTwo" });
    const passes = await copy.settle();
    expect([...new Set(passes.map(({ phase }) => phase))]).toEqual(["Updating", "Ready"]);
    expect(new Set(passes.map(({ status }) => status.release))).toEqual(new Set(["2025.1"]));
  });

  test("reports what fails and what has recovered", async () => {
    const copy = settled.copy();
    copy.failed = ["glance-db-sync"];
    const [failed] = await copy.settle();
    expect(failed?.said).toEqual(["Warning ComponentFailed: glance-db-sync: it ended with 1"]);
    expect(failed).toMatchObject({ phase: "Updating", ready: expect.stringMatching(/^False ComponentFailed/) });
    expect(failed?.status.ready).toBe("53/54");
    copy.failed = [];
    expect(copy.plan()).toMatchObject({
      phase: "Ready",
      said: ["Normal ComponentRecovered: glance-db-sync: done", "Normal Ready: All 54 components are ready"],
    });
  });

  test("applies what is missing, and what another program changed, but no immutable content", async () => {
    const copy = settled.copy();
    const [policy, programs] = ["NetworkPolicy/cloud-default-deny", /^ConfigMap\/cloud-keystone-api-programs-/];
    const id = [...copy.objects.keys()].find((each) => programs.test(each)) ?? "";
    for (const each of [policy, id]) copy.objects.set(each, { ...copy.objects.get(each), spec: {}, data: {} } as never);
    expect(copy.plan().names).toEqual([`apply ${policy}`]);
    copy.objects.delete(id);
    expect(copy.plan().names).toEqual([`apply ${policy}`, `apply ${id}`]);
  });

  test("deletes what it no longer consists of last, and what others own never", async () => {
    const copy = changed({ services: [...(spec.services ?? []), { name: "octavia", enabled: false }] });
    const mark = { [labels.deployment]: "cloud", [labels.component]: "octavia-api" };
    const others = [
      object("ConfigMap", "known", { [labels.deployment]: "cloud" }),
      object("Service", "leaving", mark, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ];
    for (const each of others) copy.objects.set(idOf(each), each);
    copy.open = ["keystone-api"];
    const before = await copy.settle();
    expect(before.flatMap(({ names }) => names).filter((name) => name.startsWith("delete"))).toContain(
      "delete Deployment/cloud-octavia-api",
    );
    copy.open = [];
    const passes = await copy.settle();
    const left = [...copy.objects.values()].filter(({ metadata }) => metadata.name.includes("octavia"));
    expect(left.map(idOf)).toEqual(["Secret/cloud-octavia-certificates"]);
    expect(passes.at(-1)?.phase).toBe("Ready");
    for (const each of others) expect(copy.objects.has(idOf(each)), idOf(each)).toBe(true);
  });

  test("deletes a Job of the past once its successor is done", () => {
    const copy = settled.copy();
    const old = object("Job", "cloud-nova-db-sync-old", { [labels.component]: "nova-db-sync" });
    copy.objects.set(idOf(old), old);
    expect(copy.plan().names).toEqual([`delete ${idOf(old)}`]);
    copy.open = ["nova-db-sync"];
    expect(copy.plan().names).toEqual([]);
    copy.open = ["nova-api"];
    expect(copy.plan().names).toEqual([`delete ${idOf(old)}`]);
    copy.objects.delete("Service/cloud-keystone-api");
    expect(copy.plan().names).toEqual(["apply Service/cloud-keystone-api"]);
  });
});

describe("the options that a deployment is rendered from", () => {
  test("have its computes by name, and no node of another role", () => {
    const copy = settled.copy();
    copy.nodes = [node("g1", "gpu"), node("c2", "control"), node("b1", "compute"), node("x", "none")];
    copy.plan();
    expect(copy.options.map(({ computeNodes }) => computeNodes)).toEqual([]);
    settled.plan();
    expect(settled.options).toMatchObject([
      { computeNodes: ["n1", "n2", "n3"], messagesOf: "2025.1", credentialKeys: "0", operators: {}, ovn: {} },
    ]);
    expect(settled.options[0]?.certificates).toEqual({
      libvirt: "2026-01-01T00:00:00Z",
      octavia: "2026-01-01T00:00:00Z",
    });
    for (const absent of ["upgradeFrom", "tls", "isRestoring", "knownDatabases"])
      expect(settled.options[0]).not.toHaveProperty(absent);
  });

  test("have no node where nothing runs servers", async () => {
    const copy = new PlayedDeployment();
    const off = ["nova", "libvirt", "neutron", "octavia", "glance", "placement"] as const;
    copy.spec = { ...spec, services: [...(spec.services ?? []), ...off.map((name) => ({ name, enabled: false }))] };
    expect(copy.plan().names).toEqual([
      "write-credentials cloud-credentials",
      "create-keys cloud-token-keys",
      "create-keys cloud-credential-keys",
    ]);
    await copy.settle();
    copy.plan();
    expect(copy.options).toMatchObject([{ computeNodes: [] }]);
  });

  test("have the operators of others that run its clusters", () => {
    const copy = new PlayedDeployment();
    copy.served.add("PerconaXtraDBCluster");
    copy.objects = new Map([...settled.objects].filter(([id]) => id.startsWith("Secret/")));
    copy.spec = { ...spec, operators: { percona: { ...percona, use: "Auto" } } };
    const { names } = copy.plan();
    expect(copy.options).toMatchObject([{ operators: { mariadb: "percona" } }]);
    expect(names).toContain("apply PerconaXtraDBCluster/cloud-mariadb");
  });
});

describe("passwords and keys", () => {
  test("rotate only where nothing else is to be written", async () => {
    const copy = changed({ rotation: { passwords: 1 } });
    copy.objects.delete("Service/cloud-keystone-api");
    expect(copy.plan().names).toEqual(["apply Service/cloud-keystone-api"]);
    const passes = await copy.settle();
    const rotating = passes.flatMap(({ names }) => names).filter((name) => name.startsWith("write-credentials"));
    expect(rotating).toHaveLength(3);
    expect(passes.at(-1)?.status.rotation).toEqual({ passwords: 1 });
  });

  test("of tokens and credentials are replaced one after another, when everything is ready", async () => {
    const keysOf = (copy: PlayedDeployment) => copy.plan().names.filter((name) => !name.startsWith("apply"));
    const copy = changed({ rotation: { keys: 1 } });
    expect(keysOf(copy)).toEqual(["rotate-keys cloud-credential-keys", "replace-keys cloud-credentials"]);
    copy.open = ["nova-api"];
    expect(copy.plan()).toMatchObject({ names: [], phase: "Updating" });
    expect(copy.plan().status.rotation?.step).toBe("waits until every component is ready");
    const both = changed({ rotation: { keys: 1, passwords: 1 } });
    expect(keysOf(both)).toEqual(["write-credentials cloud-credentials"]);
    copy.open = [];
    const passes = await copy.settle();
    expect(passes.at(-1)?.status.rotation).toEqual({ passwords: 0, keys: 1 });
    expect(copy.options).toMatchObject([{ credentialKeys: "1" }]);
  });

  test("of tokens rotate in time, and certificates are renewed in time", () => {
    const copy = settled.copy();
    copy.now = START + 12 * HOUR;
    expect(copy.plan().names).toEqual(["rotate-keys cloud-token-keys"]);
    copy.now = START + 61 * 24 * HOUR;
    expect(copy.plan().names).toEqual([
      "rotate-keys cloud-token-keys",
      "issue-certificate cloud-libvirt-certificates",
      "issue-certificate cloud-octavia-certificates",
    ]);
  });
});

describe("a backup", () => {
  const backup = { target: { claim: "backups" }, keys: { name: "passphrase" } };
  const runs = ({ names }: { readonly names: readonly string[] }) =>
    names.filter((name) => /Job\/.*-backup-/.test(name)).map((name) => name.replace(/cloud-|-\d+t.*/g, ""));

  test("begins in a deployment that is ready, and its next time is waited for", async () => {
    const copy = changed({ backup });
    await copy.settle();
    expect(copy.status?.backups).toMatchObject([{ run: "20251231t020000z", state: "Complete" }]);
    copy.now = START + 2 * HOUR;
    const plan = copy.plan();
    expect(runs(plan)).toEqual(["apply Job/keystone-db-backup"]);
    expect(plan.wait?.until).toBe(START + 12 * HOUR);
    copy.now = START + HOUR;
    expect(copy.plan()).toMatchObject({ names: [], wait: { until: START + 2 * HOUR } });
  });

  test.each<[string, (copy: PlayedDeployment) => void]>([
    ["passwords rotate", (copy) => (copy.spec = { ...copy.spec, rotation: { passwords: 1 } })],
    ["keys rotate", (copy) => (copy.spec = { ...copy.spec, rotation: { keys: 1 } })],
    ["a component is not ready", (copy) => (copy.open = ["nova-api"])],
    ["the release is raised", (copy) => (copy.status = { ...copy.status, release: "2024.2" })],
  ])("does not begin while %s", (_, change) => {
    const copy = changed({ backup });
    change(copy);
    const plan = copy.plan();
    expect(runs(plan)).toEqual([]);
    expect(plan.status.backup?.step).toBe("waits until every component is ready");
  });

  test("reports its end", async () => {
    const passes = await changed({ backup }).settle();
    expect(passes.flatMap(({ said }) => said)).toEqual(["Normal BackedUp: Backup 20251231t020000z is complete"]);
  });
});
