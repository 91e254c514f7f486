/** More than one cell of Nova: what each has of its own, and what remains as it was. */
import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { DaemonSet, Deployment, KubeObject, Service } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { findCycle } from "../graph/graph.ts";
import { withRestoreJobs } from "../restore/jobs.ts";
import { desire, named, podOf, spec } from "../testing/rendered.ts";
import type { NetworkPolicy } from "./types.ts";

const [control, compute, gpu] = spec.nodeGroups as [Group, Group, Group];
type Group = OpenStackDeploymentSpec["nodeGroups"][number];
const twoCells = { cells: [{ name: "cell2" }], nodeGroups: [control, compute, { ...gpu, cell: "cell2" }] };
const idOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.name}`;

/** The text of a file of the configuration that a workload mounts. */
function configurationOf(all: readonly KubeObject[], object: KubeObject): string {
  const names = JSON.stringify(podOf(object).spec.volumes).matchAll(/"name":"(cloud-nova[a-z0-9-]*-[0-9a-f]{10})"/g);
  return [...names]
    .flatMap(([, name = ""]) => {
      const secret = named(all, "Secret", name) as { data?: Record<string, string> } | undefined;
      const map = named(all, "ConfigMap", name) as { data?: Record<string, string> } | undefined;
      const decoded = Object.values(secret?.data ?? {}).map((each) => Buffer.from(each, "base64").toString());
      return [...decoded, map?.data?.["service.conf"] ?? ""];
    })
    .join("\n");
}

const configurationNamed = (all: readonly KubeObject[], kind: string, name: string): string => {
  const object = named(all, kind, name);
  expect(object, name).toBeDefined();
  return configurationOf(all, object as KubeObject);
};

describe("a deployment without further cells", () => {
  test("is the same whether it has an empty list of them or none", () => {
    expect(desire({ cells: [] }).all).toEqual(desire().all);
    expect(JSON.stringify(desire().all)).not.toMatch(/cell2|openstack\.causeway\.dev\/cells/);
  });

  test("starts again, of all that runs, those processes alone that read the list of cells, once the cell is mapped", () => {
    const [before, after] = [desire().all, desire({ cells: twoCells.cells })];
    const changed = before.filter(
      (object) => JSON.stringify(object) !== JSON.stringify(named(after.all, object.kind, object.metadata.name)),
    );
    expect(
      changed
        .map(idOf)
        .filter((id) => !/^(NetworkPolicy|ConfigMap|Job)\//.test(id))
        .toSorted(),
    ).toEqual([
      "Deployment/cloud-nova-api",
      "Deployment/cloud-nova-metadata",
      "Deployment/cloud-nova-scheduler",
      "Deployment/cloud-nova-super-conductor",
    ]);
    const jobs = changed.map(idOf).filter((id) => id.startsWith("Job/"));
    expect(jobs.map((id) => id.replace(/-[0-9a-f]{10}$/, ""))).toEqual([
      "Job/cloud-nova-cell-map",
      "Job/cloud-nova-cell-sync",
      "Job/cloud-nova-discover-hosts",
    ]);
    for (const name of ["nova-super-conductor", "nova-scheduler", "nova-api", "nova-metadata"]) {
      expect(after.catalogue.graph.needs.get(name)).toContain("nova-cell-map-cell2");
      const { metadata } = podOf(named(after.all, "Deployment", `cloud-${name}`) as KubeObject);
      expect(metadata?.annotations).toMatchObject({ "openstack.causeway.dev/cells": "cell2" });
    }
  });
});

describe("a further cell of Nova", () => {
  const { all, catalogue, workloads, templates } = desire(twoCells);

  test.each([
    ["Deployment", "cloud-nova-conductor-cell2", /\/nova_cell2$/m, /\/nova_cell2\?/],
    ["Deployment", "cloud-nova-novncproxy-cell2", /\/nova_cell2$/m, /\/nova_cell2\?/],
    ["DaemonSet", "cloud-nova-compute-gpu", /\/nova_cell2$/m, undefined],
    ["Deployment", "cloud-nova-conductor", /\/nova$/m, /\/nova\?/],
    ["DaemonSet", "cloud-nova-compute-compute", /\/nova$/m, undefined],
  ])("%s %s is connected with its cell's virtual host and database", (kind, name, broker, database) => {
    const lines = configurationNamed(all, kind, name).split("\n");
    expect(lines.filter((line) => line.startsWith("transport_url = ")).join("\n")).toMatch(broker);
    const connections = lines.filter((line) => line.startsWith("connection = "));
    expect(connections.filter((line) => !line.includes("/nova_api?"))).toHaveLength(database ? 1 : 0);
    if (database) expect(connections.join("\n")).toMatch(database);
  });

  test("has consoles at a name of its own, which its compute nodes give to users", () => {
    const ofGroup = (name: string) =>
      /^novncproxy_base_url = (.*)$/m.exec(configurationNamed(all, "DaemonSet", name))?.[1];
    expect(ofGroup("cloud-nova-compute-gpu")).toBe("https://console-cell2.cloud.example.org/vnc_auto.html");
    expect(ofGroup("cloud-nova-compute-compute")).toBe("https://console.cloud.example.org/vnc_auto.html");
    expect((named(all, "Service", "cloud-nova-novncproxy-cell2") as Service).spec.ports?.[0]?.port).toBe(6080);
  });

  test("keeps the options of a group of its nodes", () => {
    const options = [{ section: "DEFAULT", option: "reserved_host_memory_mb", value: "4096" }];
    const group = { ...gpu, cell: "cell2", configuration: [{ service: "nova" as const, options }] };
    const made = desire({ ...twoCells, nodeGroups: [control, compute, group] }).all;
    const text = configurationNamed(made, "DaemonSet", "cloud-nova-compute-gpu");
    expect(text).toMatch(/^reserved_host_memory_mb = 4096$/m);
    expect(text).toMatch(/^transport_url = .*\/nova_cell2$/m);
    expect(text).not.toMatch(/mysql/);
  });

  test("has compute nodes of its groups alone", () => {
    const groups = (component: string) =>
      workloads
        .filter((each) => each.component === component)
        .map(({ object }) => (object as DaemonSet).metadata.labels?.["openstack.causeway.dev/node-group"]);
    expect(groups("nova-compute")).toEqual(["compute"]);
    expect(groups("nova-compute-cell2")).toEqual(["gpu"]);
    expect(groups("libvirt")).toEqual(["compute", "gpu"]);
  });

  test("has its policies, budget, probe and grace from the catalogue", () => {
    const policy = named(all, "NetworkPolicy", "cloud-mariadb") as NetworkPolicy;
    expect(JSON.stringify(policy.spec.ingress)).toContain('"nova-conductor-cell2"');
    expect(named(all, "PodDisruptionBudget", "cloud-nova-conductor-cell2")).toBeDefined();
    const pod = podOf(named(all, "Deployment", "cloud-nova-conductor-cell2") as Deployment).spec;
    const first = podOf(named(all, "Deployment", "cloud-nova-conductor") as Deployment).spec;
    const prober = pod.initContainers?.find(({ name }) => name === "prober");
    expect(prober?.command?.slice(-2)).toEqual(["nova", "conductor"]);
    expect(pod.terminationGracePeriodSeconds).toBe(first.terminationGracePeriodSeconds);
    for (const { kind, probe, name } of catalogue.components) if (kind !== "Job") expect(probe, name).toBeDefined();
  });

  test("has its schema and its broker before it is mapped, and is mapped before its processes start", () => {
    const order = catalogue.graph.order.map(({ name }) => name);
    const before = (...names: string[]) =>
      expect(names.map((name) => order.indexOf(name))).toEqual(
        names.map((name) => order.indexOf(name)).toSorted((a, b) => a - b),
      );
    before("nova-db-init", "nova-db-init-cell2", "nova-cell-sync-cell2", "nova-cell-map-cell2", "nova-conductor-cell2");
    before("nova-broker-init", "nova-broker-init-cell2", "nova-cell-map-cell2", "nova-scheduler");
    before("nova-conductor-cell2", "nova-compute-cell2", "nova-discover-hosts-cell2");
    expect(catalogue.graph.needs.get("nova-compute-cell2")).not.toContain("nova-conductor");
    expect(findCycle(catalogue.graph.needs)).toBeUndefined();
  });

  test("has access for every generation of Nova's accounts", () => {
    const jobs = ["nova-db-init-cell2", "nova-broker-init-cell2"] as const;
    for (const [index, use] of (["database", "broker"] as const).entries()) {
      const job = workloads.find(({ component }) => component === jobs[index]);
      const volumes = JSON.stringify(podOf((job as { object: KubeObject }).object).spec.volumes);
      const [, name = ""] = /"secretName":"([^"]*-keys-[0-9a-f]{10})"/.exec(volumes) ?? [];
      const { data = {} } = named(all, "Secret", name) as { data?: Record<string, string> };
      expect(Object.keys(data)).toEqual(expect.arrayContaining(["accounts", `nova.${use}.0`, `nova.${use}.1`]));
    }
  });

  test("is in the backup of Nova's databases and comes back with it", () => {
    const backedUp = desire({
      ...twoCells,
      backup: { schedule: "0 2 * * *", to: { claim: "backups" }, passphrase: { name: "p" } } as never,
    });
    const dump = backedUp.templates.find(({ metadata }) => metadata.name.includes("nova-db-backup"));
    expect(podOf(dump as KubeObject).spec.containers[0]?.command?.slice(-3)).toEqual([
      "database",
      "nova",
      "nova_cell2",
    ]);
    const restoring = withRestoreJobs(catalogue);
    const restore = restoring.components.find(({ name }) => name === "nova-db-restore");
    expect(restore?.command.slice(-3)).toEqual(["database", "nova", "nova_cell2"]);
    const order = restoring.graph.order.map(({ name }) => name);
    expect(order.indexOf("nova-db-init-cell2")).toBeLessThan(order.indexOf("nova-db-restore"));
    expect(order.indexOf("nova-db-restore")).toBeLessThan(order.indexOf("nova-cell-sync-cell2"));
    expect(templates).toEqual([]);
  });
});

describe("an upgrade with a further cell of Nova", () => {
  const { catalogue, all } = desire(twoCells, "2024.1");
  const needs = (name: string) => {
    const found = new Set<string>();
    const visit = (each: string): void => {
      for (const next of catalogue.graph.needs.get(each) ?? []) if (!found.has(next)) visit((found.add(next), next));
    };
    visit(name);
    return [...found];
  };

  test.each([
    ["nova-scheduler", ["nova-conductor", "nova-conductor-cell2", "nova-super-conductor"]],
    ["nova-api", ["nova-conductor-cell2", "nova-cell-sync-cell2", "nova-scheduler"]],
    ["nova-compute-cell2", ["nova-api"]],
    ["nova-online-migrations", ["nova-compute", "nova-compute-cell2", "nova-conductor-cell2"]],
    ["nova-online-migrations-cell2", ["nova-compute", "nova-compute-cell2", "nova-conductor-cell2"]],
  ])("puts before %s what must be of the new release", (name, earlier) => {
    expect(needs(name)).toEqual(expect.arrayContaining(earlier));
  });

  test("migrates the rows of each cell in its own database", () => {
    const jobOf = (name: string) =>
      all.find(({ kind, metadata }) => kind === "Job" && metadata.name.replace(/-[0-9a-f]{10}$/, "") === name);
    const text = (name: string) => configurationOf(all, jobOf(name) as KubeObject);
    expect(text("cloud-nova-online-migrations-cell2")).toMatch(/^connection = .*\/nova_cell2\?/m);
    expect(text("cloud-nova-online-migrations")).not.toMatch(/nova_cell2/);
  });
});

describe("a specification of cells is refused", () => {
  test.each([
    [{ ...gpu, cell: "cell9" }, /group gpu is in cell9, which is no cell/],
    [
      { ...control, name: "more", roles: ["Control" as const], cell: "cell2" },
      /group more is in cell2 and runs no servers/,
    ],
  ])("%o", (group, message) => {
    const nodeGroups = [control, compute, group];
    expect(() => desire({ cells: [{ name: "cell2" }], nodeGroups })).toThrow(message);
  });
});
