import type { KubeadmControlPlane } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { control, observed, owned } from "../testing/control-plane-observed.ts";
import { addonUpkeep, parseImage, type AddonImages } from "./addons.ts";
import { plan } from "./plan.ts";
import { now } from "../testing/objects.ts";

type Dns = { imageRepository?: string; imageTag?: string };

function given(
  addons: AddonImages,
  spec: { dns?: Dns; imageRepository?: string; version?: string },
  notes: object = {},
) {
  const base = control();
  const { version = "v1.34.0", ...clusterConfiguration } = spec;
  const made = {
    ...base,
    metadata: { ...base.metadata, annotations: notes },
    spec: { ...base.spec, version, kubeadmConfigSpec: { clusterConfiguration } },
  } as KubeadmControlPlane;
  const base2 = observed([]);
  if (base2.workload.reach === "unreachable") throw new Error("unreachable");
  return { ...base2, control: made, workload: { ...base2.workload, addons } };
}
const proxy = "registry.k8s.io/kube-proxy:v1.34.0";
const dns = "registry.k8s.io/coredns/coredns:v1.11.1";
const skip = (name: string) => ({ [`controlplane.cluster.x-k8s.io/skip-${name}`]: "" });

describe("the images of kubeadm's add-ons", () => {
  test.each<[string, AddonImages, Parameters<typeof given>[1], object, string[]]>([
    ["are left as they are", { kubeProxy: proxy, coreDns: dns }, {}, {}, []],
    ["are not made where there are none", {}, { version: "v1.35.0" }, {}, []],
    [
      "of kube-proxy follow the version",
      { kubeProxy: proxy },
      { version: "v1.35.1" },
      {},
      ["registry.k8s.io/kube-proxy:v1.35.1"],
    ],
    [
      "of kube-proxy have no +",
      { kubeProxy: proxy },
      { version: "v1.34.0+a.1" },
      {},
      ["registry.k8s.io/kube-proxy:v1.34.0_a.1"],
    ],
    [
      "of kube-proxy follow the registry",
      { kubeProxy: proxy },
      { imageRepository: "r.io:5000/k8s" },
      {},
      ["r.io:5000/k8s/kube-proxy:v1.34.0"],
    ],
    [
      "of kube-proxy are the user's where they are skipped",
      { kubeProxy: proxy },
      { version: "v1.35.0" },
      skip("kube-proxy"),
      [],
    ],
    ["of kube-proxy by digest are left alone", { kubeProxy: "a@sha256:0" }, { version: "v1.35.0" }, {}, []],
    ["of CoreDNS do not follow the version", { coreDns: dns }, { version: "v1.35.0" }, {}, []],
    [
      "of CoreDNS follow its tag",
      { coreDns: dns },
      { dns: { imageTag: "v1.12.0" } },
      {},
      ["registry.k8s.io/coredns/coredns:v1.12.0"],
    ],
    [
      "of CoreDNS follow its registry",
      { coreDns: dns },
      { dns: { imageRepository: "r.io/dns" } },
      {},
      ["r.io/dns/coredns:v1.11.1"],
    ],
    [
      "of CoreDNS follow the common registry",
      { coreDns: dns },
      { imageRepository: "r.io" },
      {},
      ["r.io/coredns:v1.11.1"],
    ],
    [
      "of CoreDNS have a level more in the default registry",
      { coreDns: "r.io/coredns:v1.11.1" },
      { imageRepository: "registry.k8s.io" },
      {},
      [dns],
    ],
    [
      "of CoreDNS are the user's where they are skipped",
      { coreDns: dns },
      { dns: { imageTag: "v1.12.0" } },
      skip("coredns"),
      [],
    ],
  ])("%s", (_, addons, spec, notes, expected) => {
    const { steps, events } = addonUpkeep(given(addons, spec, notes));
    expect(steps.map((step) => step.type === "set-addon-image" && step.image)).toEqual(expected);
    expect(events).toEqual([]);
  });

  test.each<[string, string, string, RegExp]>([
    ["to an older version", dns, "v1.10.1", /cannot be downgraded from v1.11.1 to v1.10.1/],
    [
      "from a version with another Corefile",
      "k8s.gcr.io/coredns:1.6.2",
      "v1.11.1",
      /Corefile of CoreDNS 1.6.2 has to be changed/,
    ],
    ["to no version", dns, "latest", /cannot be compared/],
  ])("of CoreDNS are not changed %s, and an event says why", (_, coreDns, imageTag, expected) => {
    const { steps, events } = addonUpkeep(given({ coreDns }, { dns: { imageTag } }));
    expect(steps).toEqual([]);
    expect(events).toMatchObject([
      { type: "Warning", reason: "CoreDNSNotUpgraded", message: expect.stringMatching(expected) },
    ]);
  });

  test("are changed once all machines are up to date, not before", () => {
    const machines = ["a", "b", "c"].map((name) => owned(name));
    const at = (names: readonly ReturnType<typeof owned>[]) => {
      const base = observed(names);
      if (base.workload.reach === "unreachable") throw new Error("unreachable");
      return plan({ ...base, workload: { ...base.workload, addons: { kubeProxy: "k/kube-proxy:v1.33.0" } } }, now);
    };
    expect(at(machines).steps).toEqual([
      { type: "set-addon-image", addon: "kube-proxy", image: "k/kube-proxy:v1.34.0" },
    ]);
    const old = owned("c", { version: "v1.33.0" });
    expect(at([...machines.slice(0, 2), old]).steps.map((step) => step.type)).not.toContain("set-addon-image");
    expect(at(machines.slice(0, 2)).steps.map((step) => step.type)).not.toContain("set-addon-image");
  });
});

test.each<[string, ReturnType<typeof parseImage>]>([
  ["a/b:v1", { repository: "a/b", tag: "v1" }],
  ["localhost:5000/b:v1", { repository: "localhost:5000/b", tag: "v1" }],
  ["localhost:5000/b", undefined],
  ["a/b", undefined],
  ["a/b@sha256:00", undefined],
  ["a/b:v1@sha256:00", undefined],
])("the image %s is read as name, tag and digest", (text, expected) => expect(parseImage(text)).toEqual(expected));
