import type { ConfigMap, KubeObject, Service } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { desire, named, podOf, spec } from "../testing/rendered.ts";
import type { NetworkPolicy } from "./types.ts";

const workload = (component: string, all = desire().workloads) =>
  all.find((each) => each.component === component && each.object.spec !== undefined && "template" in each.object.spec)!
    .object;
const policyOf = (all: readonly KubeObject[], component: string) =>
  named(all, "NetworkPolicy", `cloud-${component}`) as NetworkPolicy;

describe("Horizon", () => {
  test("is probed by its page of login, with a name that it responds to, and serves its files by uWSGI", () => {
    const { containers } = podOf(workload("horizon")).spec;
    const [container] = containers as { command?: string[]; readinessProbe?: object; livenessProbe?: object }[];
    const httpGet = {
      path: "/auth/login/",
      port: 8080,
      scheme: "HTTP",
      httpHeaders: expect.arrayContaining([{ name: "Host", value: "localhost" }]),
    };
    expect(container?.readinessProbe).toMatchObject({ httpGet });
    expect(container?.livenessProbe).toMatchObject({ httpGet });
    expect(container?.command?.join(" ")).toContain("--static-map /static=/usr/share/openstack-dashboard/static");
  });

  test("has the files that its settings read", () => {
    const { all, workloads } = desire();
    const { volumes } = podOf(workload("horizon", workloads)).spec;
    const mounted = volumes?.find(({ name }) => name === "programs") as { configMap?: { name: string } } | undefined;
    const { data = {} } = named(all, "ConfigMap", mounted?.configMap?.name ?? "") as ConfigMap;
    const read = Object.values(data).flatMap((text) =>
      [...text.matchAll(/open\("\/programs\/([^"]+)"/g)].map(([, name]) => name),
    );
    expect(read).toEqual(["dashboard.json"]);
    expect(Object.keys(data)).toEqual(expect.arrayContaining(read));
  });
});

describe("Designate", () => {
  test("reaches name servers outside of the deployment, and is reached by them over UDP, too", () => {
    const { all } = desire();
    const open = (component: string) =>
      (policyOf(all, component).spec.egress ?? []).filter(({ to }) => to === undefined).flatMap(({ ports }) => ports);
    const dns = [
      { port: 53, protocol: "UDP" },
      { port: 53, protocol: "TCP" },
    ];
    expect(open("designate-worker")).toEqual(expect.arrayContaining(dns));
    expect(open("designate-worker")).toContainEqual({ port: 953, protocol: "TCP" });
    expect(open("designate-central")).toEqual([]);
    expect((named(all, "Service", "cloud-designate-mdns") as Service).spec?.ports).toMatchObject([
      { port: 5354, protocol: "TCP" },
      { port: 5354, protocol: "UDP" },
    ]);
    expect(policyOf(all, "designate-mdns").spec.ingress).toEqual([
      { ports: [{ port: 5354, protocol: "TCP" }] },
      { ports: [{ port: 5354, protocol: "UDP" }] },
    ]);
  });

  test("is given its pools again when their Secret is another one", () => {
    const services = (name: string) =>
      (spec.services ?? []).map((each) =>
        each.name === "designate" ? { ...each, secretConfiguration: { name } } : each,
      );
    const job = (name: string) => {
      const { workloads } = desire({ services: services(name) });
      return workloads.find(({ component }) => component === "designate-pools")!.object;
    };
    expect(job("two").metadata.name).not.toBe(job("one").metadata.name);
    expect(job("one").metadata.name).toBe(job("one").metadata.name);
    expect(JSON.stringify(podOf(job("one")).spec.volumes)).toContain('"secret":{"name":"one"}');
  });
});

describe("Manila", () => {
  const hostOf = (component: string, container: string, all = desire().workloads) => {
    const { initContainers = [], containers } = podOf(workload(component, all)).spec;
    const found = [...initContainers, ...containers].find(({ name }) => name === container);
    return ((found?.env ?? []) as { name: string; value?: string }[]).find(({ name }) => name === "OS_DEFAULT__HOST")
      ?.value;
  };

  test("has one name for the process of the backend, which its prober knows, and others for schedulers", () => {
    expect([hostOf("manila-share", "manila-share"), hostOf("manila-share", "prober")]).toEqual([
      "manila-share",
      "manila-share",
    ]);
    expect([hostOf("manila-scheduler", "manila-scheduler"), hostOf("manila-scheduler", "prober")]).toEqual([
      undefined,
      undefined,
    ]);
    const files = desire().all.filter(({ metadata }) => metadata.name.startsWith("cloud-manila-etc-"));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(JSON.stringify(file)).not.toMatch(/\\nhost = /);
  });

  test("has the administrator's own name where there is one, as its shares belong to that", () => {
    const configuration = [{ section: "DEFAULT", option: "host", value: "stor-1" }];
    const services = (spec.services ?? []).map((each) => (each.name === "manila" ? { ...each, configuration } : each));
    const { workloads, all } = desire({ services });
    for (const container of ["manila-share", "prober"])
      expect(hostOf("manila-share", container, workloads)).toBeUndefined();
    const files = all.filter(({ metadata }) => metadata.name.startsWith("cloud-manila-etc-"));
    expect(files.map((file) => JSON.stringify(file)).join("")).toMatch(/\\nhost = stor-1\\n/);
  });
});
